/**
 * Whether an address lies in one of some ranges.
 */
import { BlockList, isIP, isIPv6 } from "node:net"

/** An IPv4 peer of a socket that serves both families is written as IPv6. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "").replace(/%.*$/, "")

/**
 * @internal
 */
export const isInRanges = (address: string, ranges: ReadonlyArray<string>): boolean => {
  const peer = plain(address)
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
