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
const shaped = <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) => {
  const answered = Effect.matchCauseEffect(app, {
    onSuccess: (response) => Effect.succeed(finished(withBody(response))),
    onFailure: (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.map(fromCause(cause), finished)
  })
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const issue = pathIssue(url)
    return issue === undefined ? answered : Effect.succeed(errorResponse(400, issue))
  })
}

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

const finished = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(withRetryAfter(response), idempotencyHonoured.name, idempotencyHonoured.value)

/**
 * @internal
 */
export const httpApp = Effect.map(Effect.provide(HttpRouter.toHttpEffect(routes), exactly), shaped)
