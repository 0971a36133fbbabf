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

/** The addresses of a range as numbers, those of IPv4 behind all of IPv6. */
export interface Interval {
  readonly first: bigint
  readonly last: bigint
}

const numberOf = (address: NetAddress.IpAddress): bigint =>
  NetAddress.isIpv4Address(address)
    ? (1n << 128n) + BigInt(NetAddress.ipv4ToOctets(address).reduce((number, octet) => number * 256 + octet, 0))
    : NetAddress.ipv6ToSegments(address).reduce((number, segment) => (number << 16n) | BigInt(segment), 0n)

const intervalOf = (range: IpNetwork.IpNetwork): Interval => {
  const first = numberOf(IpNetwork.firstAddress(range))
  return { first, last: first + IpNetwork.addressCount(range) - 1n }
}

const compare = (a: bigint, b: bigint): number => Number(a > b) - Number(a < b)

/** The ranges that lie in no other one, in order. Two ranges never overlap in part. */
const outermost = (ranges: ReadonlyArray<IpNetwork.IpNetwork>): ReadonlyArray<Interval> => {
  const outer: Array<Interval> = []
  for (const interval of ranges.map(intervalOf).sort((a, b) => compare(a.first, b.first) || compare(b.last, a.last))) {
    if (interval.first > (outer.at(-1)?.last ?? -1n)) outer.push(interval)
  }
  return outer
}

/** The last of the intervals that begins at a number or before it. */
const lastUpTo = (intervals: ReadonlyArray<Interval>, number: bigint): Interval | undefined => {
  let low = 0
  let high = intervals.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((intervals[middle]?.first ?? 0n) <= number) low = middle + 1
    else high = middle
  }
  return intervals[low - 1]
}

/** Parses ranges that many addresses are looked up in. */
export const intervalsOf = (texts: ReadonlyArray<string>): ReadonlyArray<Interval> => outermost(parseRanges(texts))

/** Whether one of the ranges contains an address, as `isInRanges` says it. */
export const isInIntervals = (text: string, intervals: ReadonlyArray<Interval>): boolean => {
  const address = parseAddress(text)
  if (address === undefined) return false
  const number = numberOf(address)
  const interval = lastUpTo(intervals, number)
  return interval !== undefined && number <= interval.last
}

/** Whether each of these ranges lies within one of the others, alone. */
export const areRangesWithin = (texts: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean => {
  const outer = outermost(parseRanges(others))
  return texts.every((text) => {
    const range = parseRange(text)
    if (range === undefined) return false
    const { first, last } = intervalOf(range)
    const within = lastUpTo(outer, first)
    return within !== undefined && last <= within.last
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
