/**
 * The URLs that an import may name as its `fileUrl`: none but those that the operator allows, as `HOST` or `any`.
 *
 * - `HOST`: that host, on any port. `HOST:PORT`: on that port only. `HOST` is a name or an IP address.
 * - `any`: any host with a public address, on the ports 80 and 443.
 *
 * A listed host may be in a private network. Entries match exactly: a domain does not include its subdomains.
 */
import { ImportRefused } from "@roster/domain"
import { Effect } from "effect"
import { isIP, isIPv6 } from "node:net"
import { isPublicAddress } from "./AddressPolicy.ts"

export const refusedUrl = (reason: string): ImportRefused => new ImportRefused({ reason })

/** In characters: longer than any signed link of an object store. */
const maximumLength = 8_192

/** Whether an entry is valid: `any`, a host, or a host and a port. Others allow nothing. */
export const isAllowedUrlEntry = (entry: string): boolean => parseEntry(entry) !== undefined

/** Whether an entry other than `any` allows the host and port of a URL. */
export const isListed = (url: URL, allowed: ReadonlyArray<string>): boolean =>
  allowed.some((text) => {
    const entry = isAny(text) ? undefined : parseEntry(text)
    return (
      entry !== undefined &&
      entry.host === withoutDot(url.hostname) &&
      (entry.port === "" || entry.port === portOf(url))
    )
  })

/** Parses and normalises a URL, refused unless its host and port are allowed. `resolveHost` checks its addresses. */
export const checkUrl = Effect.fnUntraced(function* (address: string, allowed: ReadonlyArray<string>) {
  if (allowed.length === 0) {
    return yield* refusedUrl(
      "this service does not fetch files from addresses. Send the file itself, or ask the operator to allow the host."
    )
  }
  const url = address.length > maximumLength ? null : URL.parse(address)
  if (url === null) {
    return yield* refusedUrl(
      `fileUrl is not an address that can be fetched. Give one of at most ${maximumLength} characters, such ` +
        "as https://files.example.com/contacts.csv."
    )
  }
  // No part of a refused URL is repeated, not even the scheme: the scheme of "ann:secret@host" is a user name.
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return yield* refusedUrl(
      "fileUrl is neither an http: nor an https: address, and no other is fetched. Give an address that " +
        "begins with https://."
    )
  }
  if (url.username !== "" || url.password !== "") {
    return yield* refusedUrl(
      "fileUrl holds a user name or a password, and none is sent. Give a link that needs neither, or send the file itself."
    )
  }
  url.hostname = withoutDot(url.hostname)
  url.hash = ""
  if (url.hostname.split(".").includes("")) {
    return yield* refusedUrl(
      "fileUrl names no host: a part of the host name is empty. Give an address such as " +
        "https://files.example.com/contacts.csv."
    )
  }
  if (isListed(url, allowed)) return url
  if (!allowed.some(isAny)) {
    return yield* refusedUrl(
      `fetching from ${url.host} is not allowed. Send the file itself, or ask the operator to allow that host.`
    )
  }
  const port = portOf(url)
  if (port !== "80" && port !== "443") {
    return yield* refusedUrl(
      `port ${port} of ${url.hostname} is not allowed: only 80 and 443 are. Use one of them, or ask the ` +
        `operator to allow ${url.host}.`
    )
  }
  // An IP address in the URL can be checked at once; a name has to be resolved first.
  const host = hostOf(url)
  return isIP(host) !== 0 && !isPublicAddress(host) ? yield* notPublic(url) : url
})

/** The host of a URL, without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "")

/** The refusal of an unlisted host: the same for every reason, so that internal names cannot be probed. */
export const notPublic = (url: URL): ImportRefused =>
  refusedUrl(
    `${url.hostname} is not a host of the public Internet, or has no address at present. Check the address; ` +
      `to fetch from a private network, ask the operator to allow ${url.host}.`
  )

const isAny = (entry: string): boolean => entry.toLowerCase() === "any"

const withoutDot = (host: string): string => host.replace(/\.$/, "")

const portOf = (url: URL): string => (url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80")

const parseEntry = (entry: string): { readonly host: string; readonly port: string } | undefined => {
  // No scheme, path, user info or pattern: "https://files.example.com" would be parsed as the host "https".
  if (!/^[^\s/\\?#@*%]+$/u.test(entry)) return undefined
  const authority = isIPv6(entry) ? `[${entry}]` : entry
  // Each scheme drops its own default port, so one of the two keeps the port of the entry.
  const http = URL.parse(`http://${authority}`)
  const https = URL.parse(`https://${authority}`)
  return http === null || https === null
    ? undefined
    : { host: withoutDot(http.hostname), port: http.port !== "" ? http.port : https.port }
}
