/** The hosts by which a client may call the service, against DNS rebinding, and where links in its answers lead. */
import { versionSegment } from "@roster/api"
import { isLoopbackHost } from "@roster/domain/internal"
import { Context } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { isIPv4, isIPv6 } from "node:net"
import { isFromProxy, TrustedProxies } from "./ClientAddress.ts"
import { errorResponse } from "./Routes.ts"

interface Hosts {
  /** Whether a Host header is allowed. */
  readonly isAllowed: (host: string) => boolean
  /** The base address of links, if it does not depend on the request. */
  readonly baseUrl: string | undefined
  /** The protocol of the connections themselves. */
  readonly protocol: "http" | "https"
}

/**
 * The hosts of the service; `undefined` within a process, where requests name no host. A reference, since the reference page and
 * the routes read it, and only a server has hosts.
 */
export const AllowedHosts = Context.Reference<Hosts | undefined>("@roster/server/AllowedHosts", {
  defaultValue: () => undefined
})

/** The hosts of a service that listens on a host and is known to its clients under a URL. */
export const allowedHosts = (host: string, publicUrl: URL | undefined, protocol: Hosts["protocol"]): Hosts => {
  const hosts = new Set(["localhost", host.toLowerCase(), ...(publicUrl === undefined ? [] : [publicUrl.hostname])])
  const baseUrl = publicUrl === undefined ? undefined : baseOf(publicUrl)
  return { isAllowed: (host) => isAddressOrOneOf(hosts, host), protocol, baseUrl }
}

const baseOf = ({ origin, pathname }: URL): string =>
  `${origin}${pathname.replace(/(?<!\/)\/+$/, "").replace(new RegExp(`/${versionSegment}$`), "")}/${versionSegment}`

/** A host and perhaps a port: a name, an IPv4 address, or an IPv6 address in brackets. */
const hostForm = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i

const isAddressOrOneOf = (hosts: ReadonlySet<string>, host: string): boolean => {
  const [, ipv6, name = ""] = hostForm.exec(host) ?? []
  return ipv6 === undefined ? name !== "" && (isIPv4(name) || hosts.has(name.toLowerCase())) : isIPv6(ipv6)
}

/** The last value of a header, if a trusted proxy sent it. The values before the last may be the client's. */
const forwarded = (
  request: HttpServerRequest.HttpServerRequest,
  name: string,
  context: Context.Context<never>
): string | undefined => {
  const values = request.headers[name]
  return values !== undefined && isFromProxy(request, Context.get(context, TrustedProxies))
    ? values.slice(values.lastIndexOf(",") + 1).trim()
    : undefined
}

/**
 * The refusal of a request for another host, against DNS rebinding: a web page can send it here by a name of its own that
 * resolves to this machine. (docs/decisions/access.md)
 */
export const refusedHost = (
  request: HttpServerRequest.HttpServerRequest,
  context: Context.Context<never>
): HttpServerResponse.HttpServerResponse | undefined => {
  const names = Context.get(context, AllowedHosts)
  if (names === undefined) return undefined
  const host = forwarded(request, "x-forwarded-host", context)
  const isKnown = host === undefined ? names.isAllowed(request.headers["host"] ?? "") : hostForm.test(host)
  return isKnown
    ? undefined
    : errorResponse(
        421,
        "The service has no such name. Its operator gives it the one in the Host header by its public address."
      )
}

/** How a client called the service, as far as is known. The host was checked by `refusedHost`. */
const calledAs = (request: HttpServerRequest.HttpServerRequest, context: Context.Context<never>) => {
  const host = forwarded(request, "x-forwarded-host", context) ?? request.headers["host"] ?? "localhost"
  const protocol = forwarded(request, "x-forwarded-proto", context)?.toLowerCase()
  const isKnown = protocol === "https" || protocol === "http"
  return { host, protocol: isKnown ? protocol : (Context.get(context, AllowedHosts)?.protocol ?? "http") }
}

/** The base address under which a client sees the service. */
export const publicAddress = (
  request: HttpServerRequest.HttpServerRequest,
  context: Context.Context<never>
): string => {
  const baseUrl = Context.get(context, AllowedHosts)?.baseUrl
  if (baseUrl !== undefined) return baseUrl
  const { host, protocol } = calledAs(request, context)
  return `${protocol}://${host}/${versionSegment}`
}

/** Whether nobody on the way reads what is typed into a page: it was called with TLS, or on this machine. */
export const isSecure = (request: HttpServerRequest.HttpServerRequest, context: Context.Context<never>): boolean => {
  const { host, protocol } = calledAs(request, context)
  const [, ipv6, name = ""] = hostForm.exec(host) ?? []
  return protocol === "https" || isLoopbackHost(ipv6 ?? name)
}
