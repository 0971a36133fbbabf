/**
 * Passes the calls of the page on to the service, with the key of the process in place of that of the page, and gives it the
 * files of exports. What is asked for is always below the address of the service, or a link that the service gave.
 */
import { announcements, announcesItself, callHeaders, exportBelow, storeHeader } from "@roster/api"
import { DownloadNotice } from "@roster/domain"
import { Effect, Predicate, Redacted, Schema } from "effect"
import {
  type Headers,
  type HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
  HttpMethod,
  type HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { randomBytes } from "node:crypto"
import { allowSlowBody } from "../network/OpenRequests.ts"
import { refuse } from "./StudioGuard.ts"

/** The service to which calls are passed on. */
export interface ForwardedService {
  /** Its address, which ends with `/v4`. */
  readonly baseUrl: string
  /** The header with its key, and what stands in it (default: none, as for a store in this process). */
  readonly key?: { readonly header: string; readonly value: Redacted.Redacted<string> } | undefined
}

/** The headers of a request that reach the service. All others are the browser's: cookies, origins and the key of the page. */
const asked = ["accept", "content-type", ...callHeaders].map((name) => name.toLowerCase())

/** Those that reach what has the file of an export. */
const askedOfFile = ["accept", "if-match", "if-range", "range"]

/** The headers of an answer that reach the page. */
const answered = [
  ...announcements.map(({ name }) => name),
  storeHeader,
  "accept-ranges",
  "content-range",
  "date",
  "etag",
  "ratelimit",
  "ratelimit-limit",
  "ratelimit-policy",
  "ratelimit-remaining",
  "ratelimit-reset",
  "request-id",
  "retry-after",
  "x-correlation-id",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id"
]

const only = (headers: Headers.Headers, names: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return value === undefined ? [] : [[name, value]]
    })
  )

const notSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"])

/** The first code in an error and its causes. */
const codeOf = (cause: unknown, depth = 0): string | undefined => {
  if (depth > 5 || !Predicate.isObject(cause)) return undefined
  const { cause: inner, code } = cause
  return typeof code === "string" ? code : codeOf(inner, depth + 1)
}

const causeOf = ({ reason }: HttpClientError.HttpClientError): string | undefined =>
  codeOf("cause" in reason ? reason.cause : undefined)

/** An answer in place of one that did not come. Of its cause it tells the code alone, since that may quote the request. */
const unanswered = (error: HttpClientError.HttpClientError): HttpServerResponse.HttpServerResponse => {
  const code = causeOf(error)
  const said = code === undefined ? "" : ` (${code})`
  return code !== undefined && notSent.has(code)
    ? HttpServerResponse.setHeader(refuse(503, `The service cannot be reached${said}.`), "retry-after", "1")
    : refuse(502, `The service gave no answer${said}.`)
}

const hasNoBody = (method: string, status: number): boolean => method === "HEAD" || status === 204 || status === 304

/** The answer to the page, which is never anything but what its type says. */
const passedOn = (
  method: string,
  response: HttpClientResponse.HttpClientResponse,
  more: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse => {
  const { headers, status } = response
  const all = { ...only(headers, answered), ...more }
  if (hasNoBody(method, status)) return HttpServerResponse.empty({ status, headers: all })
  // The transport has decoded what came compressed.
  const length = headers["content-encoding"] === undefined ? headers["content-length"] : undefined
  return HttpServerResponse.stream(response.stream, {
    status,
    headers: all,
    contentType: headers["content-type"] ?? "application/octet-stream",
    ...(length !== undefined && /^\d+$/.test(length) && { contentLength: Number(length) })
  })
}

/** How many links are remembered. The oldest are forgotten first. */
const maximumLinks = 1000

const ExportLink = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
const decodeLink = Schema.decodeUnknownOption(ExportLink)

/** Where the page finds the files of exports, below the address of this process. */
export const exportsPath = "/studio/exports/"

/** Makes what passes calls on. `origin` is the address of this process. */
export const makeForwarding = (client: HttpClient.HttpClient, { baseUrl, key }: ForwardedService, origin: string) => {
  const base = new URL(baseUrl)
  const links = new Map<string, URL>()

  /** An address of this process for a link. A request for it needs no key, as with the link itself. */
  const remember = (link: URL): string => {
    const id = randomBytes(32).toString("base64url")
    links.set(id, link)
    const [oldest] = links.keys()
    if (links.size > maximumLinks && oldest !== undefined) links.delete(oldest)
    return `${origin}${exportsPath}${id}/${link.pathname.split("/").at(-1) ?? ""}`
  }

  /** The address of a call, unless it would lead elsewhere. */
  const addressOf = (url: string): URL | undefined => {
    const address = URL.parse(`${base.href.replace(/\/$/, "")}${url.slice("/v4".length)}`)
    const isBelow =
      address?.origin === base.origin && `${address.pathname}/`.startsWith(`${base.pathname.replace(/\/$/, "")}/`)
    return address !== null && isBelow ? address : undefined
  }

  /** The answer to a new export, with the link as the page can follow it. */
  const withLink = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
    const body = yield* response.text
    const found = decodeLink(body)
    const given = found._tag === "Some" ? found.value["Link"] : undefined
    const link = typeof given === "string" ? URL.parse(given) : null
    const isFile = link !== null && /^https?:$/.test(link.protocol)
    const text = found._tag === "Some" && isFile ? JSON.stringify({ ...found.value, Link: remember(link) }) : body
    return HttpServerResponse.text(text, {
      status: response.status,
      contentType: response.headers["content-type"] ?? "application/json",
      headers: only(response.headers, answered)
    })
  })

  return {
    /** Passes a call below `/v4` on. */
    call: Effect.fnUntraced(
      function* (request: HttpServerRequest.HttpServerRequest) {
        const { headers, method, url } = request
        const address = addressOf(url)
        if (address === undefined || !HttpMethod.isHttpMethod(method)) return refuse(404, "There is no such operation.")
        const sent = HttpClientRequest.make(method)(address, { headers: only(headers, asked) })
        const own = key === undefined ? sent : HttpClientRequest.setHeader(sent, key.header, Redacted.value(key.value))
        const length = headers["content-length"]
        const hasBody = headers["transfer-encoding"] !== undefined || Number(length ?? 0) > 0
        if (hasBody) allowSlowBody(request)
        const whole = hasBody
          ? HttpClientRequest.bodyStream(own, request.stream, {
              contentType: headers["content-type"] ?? "application/octet-stream",
              contentLength: length === undefined ? undefined : Number(length)
            })
          : own
        const response = yield* client.execute(whole)
        const isExport = method === "POST" && address.pathname.endsWith("/contacts/export") && response.status === 202
        const answer = isExport ? yield* withLink(response) : passedOn(method, response)
        // A connection does not stay for the rest of a body that was refused.
        return hasBody && response.status >= 400 ? HttpServerResponse.setHeader(answer, "connection", "close") : answer
      },
      Effect.catch((error) => Effect.succeed(unanswered(error)))
    ),

    /** Gives the file of an export, from wherever the service said, and without the key. */
    file: Effect.fnUntraced(
      function* ({ headers, method, url }: HttpServerRequest.HttpServerRequest) {
        const link = links.get(url.slice(exportsPath.length).split("/", 1)[0] ?? "")
        if (link === undefined)
          return refuse(404, "This link ended with the process that gave it. Ask for the export again.")
        if (base.protocol === "https:" && link.protocol === "http:") {
          return refuse(502, "The link of the service is http, and the service is called by https.")
        }
        const ask = (at: URL) =>
          client.execute(
            HttpClientRequest.get(at, { headers: { ...only(headers, askedOfFile), "accept-encoding": "identity" } })
          )
        const other = exportBelow(base.href, link)
        const response = yield* Effect.catch(
          ask(link),
          Effect.fnUntraced(function* (error) {
            const code = causeOf(error)
            if (other === undefined || code === undefined || !notSent.has(code)) return yield* error
            const response = yield* Effect.mapError(ask(other), () => error)
            if (!announcesItself(response)) return yield* error
            yield* (yield* DownloadNotice)(
              `The link of the export leads nowhere (${code} at ${link.host}). The file comes from ${other.host}, where the service is called.`
            )
            return response
          })
        )
        const given = response.headers["content-disposition"] ?? ""
        // It is saved, and never shown.
        const disposition = /^attachment\b/i.test(given) ? given : "attachment"
        return passedOn(method, response, { "content-disposition": disposition })
      },
      Effect.catch((error) => Effect.succeed(unanswered(error)))
    )
  }
}
