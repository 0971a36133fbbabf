/**
 * The proxies that the environment names, and the hosts that are called without one. No error of theirs holds a value, which
 * may contain a password. (docs/clients.md)
 */
import { isLoopbackHost } from "@roster/domain/internal"
import { Effect, Result } from "effect"
import { BlockList, isIP, isIPv6 } from "node:net"
import { env } from "node:process"
import { InvalidSettings } from "../InvalidSettings.ts"

/** The proxies for the two kinds of addresses, and the hosts that are called without one. */
export interface EnvironmentProxies {
  readonly http: URL | undefined
  readonly https: URL | undefined
  /** The proxy of an address; `undefined` for one of this machine or of `NO_PROXY`, which is called directly. */
  readonly proxyFor: (address: URL) => URL | undefined
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

/** A name of `NO_PROXY`, which covers the names below it. */
interface ExceptedName {
  readonly name: string
  /** Whether it covers those below it alone, as `*.example.com`. */
  readonly isBelowOnly: boolean
  readonly port: string
}

/** Whether `NO_PROXY` names a host: by its address, by a range, by a name, or by `*`. */
const isExcepted = (exceptions: string): ((host: string, port: string) => boolean) => {
  const ranges = new BlockList()
  const names: Array<ExceptedName> = []
  for (const entry of exceptions.toLowerCase().split(/[,\s]+/)) {
    const [, address = "", bits = ""] = /^\[?([\da-f:.]+)\]?\/(\d{1,3})$/.exec(entry) ?? []
    const most = isIPv6(address) ? 128 : 32
    if (isIP(address) !== 0 && Number(bits) <= most) {
      ranges.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4")
    }
    // A colon of an address without brackets precedes no port.
    const [, host = "", port = ""] = /^(\[.+\]|[^:]+)(?::(\d+))?$/.exec(isIPv6(entry) ? `[${entry}]` : entry) ?? []
    const name = host
      .replace(/^\[(.+)\]$/, "$1")
      .replace(/^\*?\./, "")
      .replace(/(.)\.$/, "$1")
    if (name !== "") names.push({ name, isBelowOnly: host.startsWith("*."), port })
  }
  return (host, port) =>
    (isIP(host) !== 0 && ranges.check(host, isIPv6(host) ? "ipv6" : "ipv4")) ||
    names.some(
      (excepted) =>
        (excepted.port === "" || excepted.port === port) &&
        (excepted.name === "*" ||
          host.endsWith(`.${excepted.name}`) ||
          (host === excepted.name && !excepted.isBelowOnly))
    )
}

/** Reads them as they are now. `undefined` if none is named. */
export const environmentProxies: Effect.Effect<EnvironmentProxies | undefined, InvalidSettings> = Effect.gen(
  function* () {
    const http = yield* Effect.fromResult(proxyOf(variableOf("http_proxy")))
    const https = yield* Effect.fromResult(proxyOf(variableOf("https_proxy")))
    if (http === undefined && https === undefined) return undefined
    const isDirect = isExcepted(env[variableOf("no_proxy")] ?? "")
    const proxyFor = ({ hostname, port, protocol }: URL): URL | undefined => {
      const host = hostname.replace(/^\[(.+)\]$/, "$1").replace(/(.)\.$/, "$1")
      const isTls = protocol === "https:"
      if (isLoopbackHost(host) || isDirect(host, port || (isTls ? "443" : "80"))) return undefined
      return isTls ? (https ?? http) : http
    }
    return { http, https: https ?? http, proxyFor }
  }
)
