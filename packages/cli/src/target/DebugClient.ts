/**
 * The HTTP client of `--debug-http`: it says on stderr what is sent and answered. It shows no key and no body, and with
 * `isPersonal` alone the parts of an address that name people or select them.
 */
import { Clock, Effect } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { addressOf } from "./RequestAddress.ts"
import type { Output } from "../terminal/Output.ts"
import { printable } from "../terminal/Printable.ts"

/** The words of the interface in a path. */
const known = new Set(
  "v4 contacts changes count fields lookup delete import export exports status security apikeys smtp emails".split(" ")
)

/** The parameters of a query that name nobody. */
const plainParameters = new Set(["limit", "offset", "fileFormat", "compressionFormat", "encodingName"])

/** Those that name somebody. Any other, as in the link of an export, may be a signature. */
const personalParameters = new Set(["emails", "rule", "listnames", "listName", "fileName", "subaccount"])

/** The headers whose values are shown. Any other may hold a key, a cookie or an address. */
const plainHeaders = new Set([
  "accept",
  "accept-encoding",
  "content-length",
  "content-type",
  "date",
  "request-id",
  "retry-after",
  "server",
  "x-request-id"
])

const hidden = "…"

/** The address of a request. The key in the link of an export is hidden in any case. */
const shownAddress = (request: HttpClientRequest.HttpClientRequest, isPersonal: boolean): string => {
  const { origin, pathname, searchParams } = addressOf(request)
  const segments = pathname.split("/")
  const path = segments.map((segment, index) => {
    if (segments[index - 1] === "exports") return hidden
    return isPersonal || segment === "" || known.has(segment) ? segment : hidden
  })
  const isShown = (name: string) => plainParameters.has(name) || (isPersonal && personalParameters.has(name))
  const query = [...searchParams].map(
    ([name, value]) => `${name}=${isShown(name) ? encodeURIComponent(value) : hidden}`
  )
  return `${origin}${path.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}`
}

const headerLines = (mark: string, headers: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.keys(headers)
    .toSorted()
    .map((name) => `${mark} ${name}: ${plainHeaders.has(name) ? String(headers[name]) : hidden}`)

/** Wraps a client. */
export const debugClient =
  ({ noteExactly }: Output["Service"], isPersonal: boolean) =>
  (client: HttpClient.HttpClient): HttpClient.HttpClient => {
    const say = (lines: ReadonlyArray<string>) =>
      Effect.forEach(lines, (line) => noteExactly(printable(line)), { discard: true })
    return HttpClient.transform(
      client,
      Effect.fnUntraced(function* (answer, request) {
        const { headers, method } = request
        yield* say([`> ${method} ${shownAddress(request, isPersonal)}`, ...headerLines(">", headers)])
        const began = yield* Clock.currentTimeMillis
        const took = Effect.map(Clock.currentTimeMillis, (now) => `${now - began} ms`)
        const response = yield* Effect.tapError(answer, ({ reason }) =>
          Effect.flatMap(took, (time) => say([`< no answer (${reason._tag}) after ${time}`]))
        )
        yield* say([`< ${response.status} after ${yield* took}`, ...headerLines("<", response.headers)])
        return response
      })
    )
  }
