/**
 * Where a request comes from: the other end of its connection, unless that is a proxy of the operator's own. Headers that
 * say something else are anybody's to write, so they count only where such a proxy wrote them.
 */
import type { IpRange } from "@roster/domain"
import { Context, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isIP } from "node:net"
import { isInRanges, plainAddress } from "../network/IpRanges.ts"

/** The addresses of the operator's own proxies. */
export const TrustedProxies = Context.Reference<ReadonlyArray<IpRange>>("@roster/server/TrustedProxies", {
  defaultValue: () => []
})

/** Some proxies add the port, and brackets around an IPv6 address then. */
const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text

/**
 * The address that a request comes from, or the empty text where nothing certain is known, which is in no range. Of the
 * addresses in X-Forwarded-For the last one counts that is not a trusted proxy: whoever stands before those wrote the rest.
 */
export const clientAddress = (
  request: HttpServerRequest.HttpServerRequest,
  trusted: ReadonlyArray<IpRange>
): string => {
  const peer = plainAddress(Option.getOrElse(request.remoteAddress, () => ""))
  const forwarded = request.headers["x-forwarded-for"]
  if (forwarded === undefined || !isInRanges(peer, trusted)) return peer
  const hops = forwarded.split(",").map((hop) => plainAddress(withoutPort(hop.trim())))
  const from = hops.findLast((hop) => !isInRanges(hop, trusted)) ?? hops[0] ?? ""
  return isIP(from) === 0 ? "" : from
}
