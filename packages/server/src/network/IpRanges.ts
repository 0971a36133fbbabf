import { Option, Result } from "effect"
import { IpInterface, IpNetwork, NetAddress } from "effect/net"

/** Parses an address without its zone. An IPv4 peer of a dual-stack socket, which is written as IPv6, becomes IPv4. */
export const parseAddress = (text: string): NetAddress.IpAddress | undefined =>
  NetAddress.ipFromString(text.replace(/%.*$/, "")).pipe(
    Result.map((address) => NetAddress.toCanonical(address)),
    Result.getSuccess,
    Option.getOrUndefined
  )

/** Parses an address or a CIDR range, whose host bits are ignored. */
export const parseRange = (text: string): IpNetwork.IpNetwork | undefined =>
  Option.getOrUndefined(Option.map(Result.getSuccess(IpInterface.fromString(text)), IpNetwork.fromInterface))

/** Whether one of the ranges contains an address. */
export const isInRanges = (text: string, ranges: ReadonlyArray<string>): boolean => {
  const address = parseAddress(text)
  return address !== undefined && parseRanges(ranges).some((range) => IpNetwork.contains(range, address))
}

const parseRanges = (ranges: ReadonlyArray<string>) => ranges.flatMap((range) => parseRange(range) ?? [])

/** Whether one of the other ranges, alone, contains a range. */
export const isRangeWithin = (text: string, others: ReadonlyArray<string>): boolean => {
  const range = parseRange(text)
  return range !== undefined && parseRanges(others).some((other) => IpNetwork.containsNetwork(other, range))
}

/** The network of one client: an IPv4 address, or the /64 network of an IPv6 address. */
export const clientNetwork = (text: string): string => {
  const address = parseAddress(text)
  if (address === undefined) return text
  return NetAddress.isIpv4Address(address)
    ? NetAddress.formatIp(address)
    : IpNetwork.format(IpNetwork.fromAddressUnsafe(address, 64))
}
