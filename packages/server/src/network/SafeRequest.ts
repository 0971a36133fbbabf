/** A request to addresses that were checked, whatever the name resolves to by now. */
import type { ImportRefused } from "@roster/domain"
import { Deferred, Effect } from "effect"
import * as Http from "node:http"
import * as Https from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { hostOf, refusedUrl } from "./AllowedUrls.ts"

/** Connects to one of the addresses; the host name is used only for the Host header and the certificate. */
export const safeRequest = (url: URL, addresses: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => begin(url, addresses)),
    ({ request }) => Effect.sync(() => request.destroy())
  )

const begin = (url: URL, addresses: ReadonlyArray<string>) => {
  const connected = Deferred.makeUnsafe<void, ImportRefused>()
  const response = Deferred.makeUnsafe<Http.IncomingMessage, ImportRefused>()
  const tls = url.protocol === "https:"
  const request = (tls ? Https : Http).request({
    protocol: url.protocol,
    hostname: hostOf(url),
    port: url.port,
    path: url.pathname + url.search,
    // An option of https only: plain http ignores it.
    ...(tls && { rejectUnauthorized: true }),
    // No credentials, no cookies. A compressed file could pass the size limit that its contents exceed.
    headers: {
      "user-agent": "roster",
      accept: "text/csv, text/plain, application/zip, */*",
      "accept-encoding": "identity"
    },
    insecureHTTPParser: false,
    maxHeaderSize: 16_384,
    lookup: pinned(addresses),
    // No shared agent, so no proxy of the environment, which would resolve the name again in another network.
    agent: false
  })
  const fail = (problem: string) => {
    const up = tls ? "is up and has a trusted certificate" : "is up"
    const refused = Effect.fail(
      refusedUrl(`${url.host} ${problem}. Check the address and that the host ${up}, then import again.`)
    )
    Deferred.doneUnsafe(connected, refused)
    Deferred.doneUnsafe(response, refused)
  }
  request.once("socket", (socket) =>
    socket.once(tls ? "secureConnect" : "connect", () => Deferred.doneUnsafe(connected, Effect.void))
  )
  request.once("response", (message) => Deferred.doneUnsafe(response, Effect.succeed(message)))
  // The message of the error contains the IP address, its code does not. The listener stays for errors after the end.
  request.on("error", (error) => fail(`could not be read from${codeOf(error)}`))
  request.once("close", () => fail("closed the connection without an answer"))
  return {
    request,
    /** Waits for the connection, and for TLS with https. Nothing is sent before that. */
    connected: Deferred.await(connected),
    /** Sends the request and waits for the head of the response. */
    response: Effect.suspend(() => {
      request.end()
      return Deferred.await(response)
    })
  }
}

/** The code of a system error in parentheses, for a message. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? ` (${error.code})` : ""

const pinned =
  (addresses: ReadonlyArray<string>): LookupFunction =>
  (_hostname, options, callback) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = all
    queueMicrotask(() =>
      options.all === true || first === undefined ? callback(null, all) : callback(null, first.address, first.family)
    )
  }
