/**
 * The HTTP client of `--debug-http`: it says on stderr what is sent and answered. It shows no key, no body, and
 * no part of an address that names people or selects them.
 */
import { operations, versionSegment } from "@roster/api"
import { Clock, Effect } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { addressOf } from "./RequestAddress.ts"
import type { Output } from "../terminal/Output.ts"
import { printable } from "../terminal/Printable.ts"

/** The words of the interface in a path, which name nobody. */
const words = new Set([
  ...`${versionSegment}/exports`.split("/"),
  ...Array.from(operations.values()).flatMap(({ path }) =>
    path.split("/").filter((segment) => !segment.startsWith(":"))
  )
])

/** The parameters of a query that name nobody. */
const plainParameters = new Set(["limit", "offset", "fileFormat", "compressionFormat", "encodingName"])

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

/** The address of a request. */
const shownAddress = (request: HttpClientRequest.HttpClientRequest): string => {
  const { origin, pathname, searchParams } = addressOf(request)
  const path = pathname.split("/").map((segment) => (words.has(segment) ? segment : hidden))
  const query = [...searchParams].map(
    ([name, value]) => `${name}=${plainParameters.has(name) ? encodeURIComponent(value) : hidden}`
  )
  return `${origin}${path.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}`
}

const headerLines = (mark: string, headers: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.keys(headers)
    .toSorted()
    .map((name) => `${mark} ${name}: ${plainHeaders.has(name) ? String(headers[name]) : hidden}`)

/** Wraps a client. */
export const debugClient =
  ({ noteExactly }: Output["Service"]) =>
  (client: HttpClient.HttpClient): HttpClient.HttpClient => {
    const say = (lines: ReadonlyArray<string>) =>
      Effect.forEach(lines, (line) => noteExactly(printable(line)), { discard: true })
    return HttpClient.transform(
      client,
      Effect.fnUntraced(function* (answer, request) {
        const { headers, method } = request
        yield* say([`> ${method} ${shownAddress(request)}`, ...headerLines(">", headers)])
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
