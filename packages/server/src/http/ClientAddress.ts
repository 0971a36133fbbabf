/** The address of the client of a request, also behind proxies that the operator trusts. */
import type { IpRange } from "@roster/domain"
import { Context, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"
import { isInRanges, parseAddress } from "../network/IpRanges.ts"

/** The addresses of the operator's own proxies. A reference, since routes far below the server judge who called. */
export const TrustedProxies = Context.Reference<ReadonlyArray<IpRange>>("@roster/server/TrustedProxies", {
  defaultValue: () => []
})

/** Some proxies append the port, and put brackets around an IPv6 address. */
const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text

const canonical = (text: string): string => {
  const address = parseAddress(text)
  return address === undefined ? "" : NetAddress.formatIp(address)
}

/** The address at the other end of a connection. That of IPv4 needs no parser, which would take a tenth of a request. */
const peerOf = (request: HttpServerRequest.HttpServerRequest): string => {
  const text = Option.getOrElse(request.remoteAddress, () => "").replace(/^::ffff:(?=[\d.]+$)/, "")
  return /^[\d.]+$/.test(text) ? text : canonical(text)
}

/** Whether a request comes from one of the operator's own proxies. */
export const isFromProxy = (request: HttpServerRequest.HttpServerRequest, trusted: ReadonlyArray<IpRange>): boolean =>
  trusted.length > 0 && isInRanges(peerOf(request), trusted)

/**
 * The address of the client, or empty if uncertain: the peer, or behind a trusted proxy the last address in
 * X-Forwarded-For that is not trusted, since the client can forge those before it.
 */
export const clientAddress = (
  request: HttpServerRequest.HttpServerRequest,
  trusted: ReadonlyArray<IpRange>
): string => {
  const peer = peerOf(request)
  const forwarded = request.headers["x-forwarded-for"]
  if (forwarded === undefined || !isInRanges(peer, trusted)) return peer
  const hops = forwarded.split(",").map((hop) => canonical(withoutPort(hop.trim())))
  return hops.findLast((hop) => !isInRanges(hop, trusted)) ?? hops[0] ?? ""
}
