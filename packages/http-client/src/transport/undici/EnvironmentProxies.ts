/**
 * The proxies that the environment names, and the hosts that are called without one. No error of theirs holds a value, which
 * may contain a password. (docs/clients.md)
 */
import { isLoopbackHost } from "@roster/domain"
import { Effect, Result } from "effect"
import { BlockList, isIP, isIPv6 } from "node:net"
import { env } from "node:process"
import { InvalidSettings } from "../InvalidSettings.ts"

/** The proxies for the two kinds of addresses, and the hosts that are called without one. */
export interface EnvironmentProxies {
  readonly http: URL | undefined
  readonly https: URL | undefined
  /** The names of `NO_PROXY`. */
  readonly exceptions: string
  /** Whether a host is this machine, or in a range of `NO_PROXY`. */
  readonly isDirect: (hostname: string) => boolean
}

/** A variable by its name in lower case, which counts if both are set. */
const variableOf = (name: string): string => (env[name] === undefined ? name.toUpperCase() : name)

/** The address of a proxy, which is one of http if it names no scheme. */
const proxyOf = (variable: string): Result.Result<URL | undefined, InvalidSettings> => {
  const value = env[variable]?.trim() ?? ""
  if (value === "") return Result.succeed(undefined)
  const url = URL.parse(value.includes("://") ? value : `http://${value}`)
  const isReadable = Result.isSuccess(Result.try(() => decodeURIComponent(`${url?.username}${url?.password}`)))
  // A path means nothing, as for curl.
  return url !== null && /^https?:$/.test(url.protocol) && isReadable
    ? Result.succeed(Object.assign(url, { pathname: "/", search: "", hash: "" }))
    : Result.fail(
        new InvalidSettings({
          setting: "proxy",
          issue: "it is not the address of a proxy of http or https, such as http://proxy.example:3128",
          variable
        })
      )
}

const rangesOf = (exceptions: string): BlockList => {
  const ranges = new BlockList()
  for (const entry of exceptions.split(/[,\s]+/)) {
    const [, address = "", bits = ""] = /^\[?([\da-f:.]+)\]?\/(\d{1,3})$/i.exec(entry) ?? []
    const most = isIPv6(address) ? 128 : 32
    if (isIP(address) !== 0 && Number(bits) <= most) {
      ranges.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4")
    }
  }
  return ranges
}

/** Reads them as they are now. `undefined` if none is named. */
export const environmentProxies: Effect.Effect<EnvironmentProxies | undefined, InvalidSettings> = Effect.gen(
  function* () {
    const http = yield* Effect.fromResult(proxyOf(variableOf("http_proxy")))
    const https = yield* Effect.fromResult(proxyOf(variableOf("https_proxy")))
    if (http === undefined && https === undefined) return undefined
    const exceptions = env[variableOf("no_proxy")] ?? ""
    const ranges = rangesOf(exceptions)
    const isDirect = (hostname: string): boolean => {
      const host = hostname.replace(/^\[(.+)\]$/, "$1")
      return isLoopbackHost(host) || (isIP(host) !== 0 && ranges.check(host, isIPv6(host) ? "ipv6" : "ipv4"))
    }
    return { http, https: https ?? http, exceptions, isDirect }
  }
)
