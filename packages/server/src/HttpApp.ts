/**
 * The service as one effect from a request to a response: the contract, the files of exports, and an answer of the one
 * shape to everything that is neither. It is served over a socket or called in-process.
 */
import { idempotencyHonoured } from "@roster/api"
import { Cause, Effect, Layer } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { authentication } from "./Authentication.ts"
import { ContactsHandlers } from "./ContactsHandlers.ts"
import { EmailsHandlers } from "./EmailsHandlers.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { ExportRoute } from "./ExportRoute.ts"
import { requestChecks } from "./RequestChecks.ts"
import { SecurityHandlers } from "./SecurityHandlers.ts"
import { ServedApi } from "./ServedApi.ts"

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(ServedApi, { openapiPath: "/v4/openapi.json" }).pipe(
    Layer.provide([ContactsHandlers, SecurityHandlers, EmailsHandlers]),
    Layer.provide([authentication, requestChecks])
  ),
  ExportRoute
)

/** Paths are matched to the letter; a value in a path may be as long as the longest e-mail, three bytes a character. */
const exactly = Layer.succeed(HttpRouter.RouterConfig, {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 4096
})

const pathIssue = (url: string): string | undefined => {
  const path = url.split("?", 1)[0] ?? ""
  try {
    return decodeURIComponent(path).includes("\0") ? "The path holds a NUL character." : undefined
  } catch {
    return "The path is not percent-encoded UTF-8."
  }
}

const texts: Readonly<Record<number, string>> = {
  400: "The request cannot be read.",
  404: "There is no such operation. The paths are those of the interface, below /v4.",
  413: "The body of this request is too large.",
  415: "The body of this request is of a kind that the operation does not take."
}

/** Whatever is left without a body of ours gets one; what is a bug is logged under an id, which is all that is said of it. */
const shaped = Effect.fnUntraced(function* <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const issue = pathIssue(request.url)
  if (issue !== undefined) return errorResponse(400, issue)
  return yield* app.pipe(
    Effect.map(withBody),
    Effect.catchCauseIf((cause) => !Cause.hasInterruptsOnly(cause), fromCause),
    Effect.map(withRetryAfter),
    Effect.map(HttpServerResponse.setHeader(idempotencyHonoured.name, idempotencyHonoured.value))
  )
})

const fromCause = Effect.fnUntraced(function* <E>(cause: Cause.Cause<E>) {
  const [response] = yield* HttpServerError.causeResponse(cause)
  if (response.status < 500) return withBody(response)
  const id = crypto.randomUUID()
  yield* Effect.logError(`request ${id} failed`, cause)
  return errorResponse(500, `An internal error. It is in the log of the service under ${id}.`)
})

const withBody = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status < 400 ||
  (response.body._tag !== "Empty" && /^application\/json\b/.test(response.body.contentType ?? ""))
    ? response
    : errorResponse(response.status, texts[response.status] ?? "The request was refused.")

/** Where the store fails, the transaction of the request is undone: a client may be told that it can be sent again. */
const withRetryAfter = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status === 503 && response.headers["retry-after"] === undefined
    ? HttpServerResponse.setHeader(response, "retry-after", "1")
    : response

/**
 * @internal
 */
export const httpApp = Effect.map(Effect.provide(HttpRouter.toHttpEffect(routes), exactly), shaped)
