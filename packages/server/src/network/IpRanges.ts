/**
 * Addresses and the ranges that they lie in.
 */
import { BlockList, isIP, isIPv6 } from "node:net"

/** An address as ranges are compared with: an IPv4 peer of a socket that serves both families is written as IPv6. */
export const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "").replace(/%.*$/, "")

/** Whether an address lies in one of some ranges. */
export const isInRanges = (address: string, ranges: ReadonlyArray<string>): boolean => {
  const peer = plainAddress(address)
  if (isIP(peer) === 0) return false
  const list = new BlockList()
  for (const range of ranges) {
    const [network = "", prefix] = range.split("/")
    const family = isIPv6(network) ? "ipv6" : "ipv4"
    // A list would take every IPv4 address for one of ::/0.
    if (isIPv6(network) !== isIPv6(peer)) continue
    if (prefix === undefined) list.addAddress(network, family)
    else list.addSubnet(network, Number(prefix), family)
  }
  return list.check(peer, isIPv6(peer) ? "ipv6" : "ipv4")
}

const prefixOf = (range: string): number => Number(range.split("/")[1] ?? (range.includes(":") ? "128" : "32"))

/** Whether a range lies within one of some others, as a whole: two that only together hold it do not count. */
export const isRangeWithin = (range: string, others: ReadonlyArray<string>): boolean => {
  const [network = ""] = range.split("/")
  return others.some(
    (other) =>
      range.includes(":") === other.includes(":") && prefixOf(range) >= prefixOf(other) && isInRanges(network, [other])
  )
}

/**
 * Whose an address is, to whom it matters that one party has many: an IPv6 address stands for its network of 64 bits.
 */
export const clientNetwork = (address: string): string => {
  const peer = plainAddress(address)
  if (!isIPv6(peer)) return peer
  const [head = "", tail] = peer.split("::")
  const front = head === "" ? [] : head.split(":")
  const back = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill("0")
  return [...front, ...zeros, ...back].slice(0, 4).join(":")
}
