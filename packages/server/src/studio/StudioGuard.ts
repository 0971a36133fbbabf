/**
 * Who may ask the process of `roster studio`: the page that it serves, by the key that it gave it. Each check alone has
 * failed others: a name that resolves to this machine passes one of addresses, and a local process one of origins.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { apiKeyHeader } from "@roster/api"
import { Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { isOfThisUser } from "../network/PeerUser.ts"

/** A refusal in the form of the interface. */
export const refuse = (status: number, text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ Error: text }, { status })

const keyHeader = apiKeyHeader.toLowerCase()

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Makes the guard of a server on a port, with the key of its page. */
export const makeStudioGuard = (port: number, key: Redacted.Redacted<string>) => {
  // A URL leaves out the port that browsers leave out.
  const hosts = new Set(["127.0.0.1", "localhost", "[::1]"].map((name) => new URL(`http://${name}:${port}`).host))
  const expected = digestOf(Redacted.value(key))
  const users = new WeakMap<object, boolean>()

  const isOwn = (request: HttpServerRequest.HttpServerRequest): boolean => {
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    const known = users.get(socket) ?? isOfThisUser(socket)
    users.set(socket, known)
    return known
  }

  return {
    /** Why a request is refused, whatever it asks for. What needs no key may be opened by the person, and not by the page. */
    refusal: (request: HttpServerRequest.HttpServerRequest, needsKey: boolean) => {
      const { host = "", origin, "sec-fetch-site": site } = request.headers
      if (!isOwn(request)) return refuse(403, "This address is of another user of this machine.")
      if (!hosts.has(host)) return refuse(421, "This address is called by the names of this machine alone.")
      if (origin !== undefined && origin !== `http://${host}`) return refuse(403, "No other page may ask this address.")
      const isFromPage = site === undefined || site === "same-origin" || (site === "none" && !needsKey)
      if (!isFromPage) return refuse(403, "No other page may ask this address, or lead to it.")
      if (request.method === "OPTIONS") return refuse(405, "No other page may ask this address.")
      if (!needsKey || timingSafeEqual(digestOf(request.headers[keyHeader] ?? ""), expected)) return undefined
      return refuse(401, "The key of this page is missing or ended. Open the address that roster studio prints.")
    }
  }
}
