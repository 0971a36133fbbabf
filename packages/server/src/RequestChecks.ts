/**
 * What every request with a good key goes through: a body of the right kind and size, and input that does not fit the
 * contract turned into a 400 that names the field.
 */
import { BadRequest, RequestErrors } from "@roster/api"
import { invalidInput } from "@roster/domain"
import { ByteSize, Effect, Layer, type Types } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { actorOf, recordRefusal } from "./AuditTrail.ts"
import { Caller } from "./Caller.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { onceByKey } from "./IdempotentAnswer.ts"

/** The largest JSON body: room for a message of 20 MB with its attachments in base64. */
const maximumBodySize = ByteSize.fromInputUnsafe("32 MiB")

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType ?? "")

/** An import takes a form or nothing at all, and the contract counts nothing as JSON. */
const takesJson = ({ payload }: HttpApiEndpoint.Top): boolean =>
  payload.has("application/json") && !payload.has("multipart/form-data")

/**
 * The request with its body as text, or `undefined` where the bytes are no UTF-8: decoded as usual they would become
 * replacement characters in somebody's name.
 */
const withText = (request: HttpServerRequest.HttpServerRequest) =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maximumBodySize),
    Effect.orDie,
    Effect.map((bytes): HttpServerRequest.HttpServerRequest | undefined => {
      try {
        const text = Effect.succeed(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
        return new Proxy(request, { get: (target, key) => (key === "text" ? text : Reflect.get(target, key, target)) })
      } catch {
        return undefined
      }
    })
  )

/** A record of ours that does not fit the contract is our mistake, not the caller's. */
const isInputError = (error: unknown): error is Types.unhandled & HttpApiError.HttpApiSchemaError =>
  HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders"

/**
 * @internal
 */
export const requestChecks: Layer.Layer<RequestErrors, never, SqlClient.SqlClient> = Layer.effect(
  RequestErrors,
  Effect.map(SqlClient.SqlClient, (sql) => checkRequest(sql))
)

/** Changes of credentials that do not even fit the contract belong into the record too. */
const recordMalformed = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, endpoint: HttpApiEndpoint.Top) {
  if (!endpoint.identifier.startsWith("security") || endpoint.method === "GET") return
  const caller = yield* Caller
  const { account, peer } = caller
  yield* recordRefusal(sql, { actor: actorOf(caller), peer, account, operation: endpoint.identifier }, "InvalidInput")
})

/** What an endpoint takes is known before any request: where that is nothing, there is nothing to be looked at. */
const checkRequest =
  (sql: SqlClient.SqlClient): RequestErrors["Service"] =>
  (httpEffect, { endpoint }) => {
    const answered = Effect.catchIf(httpEffect, isInputError, (error) =>
      Effect.andThen(
        recordMalformed(sql, endpoint),
        Effect.fail(new BadRequest({ Error: invalidInput(error.cause).message }))
      )
    )
    if (endpoint.method === "GET") return answered
    const refuse = (status: number, text: string) =>
      Effect.as(recordMalformed(sql, endpoint), errorResponse(status, text))
    return Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (takesJson(endpoint)) {
        if (!isJson(request.headers["content-type"])) {
          return yield* refuse(415, "The body of this request is JSON: send it with Content-Type: application/json.")
        }
        if (Number(request.headers["content-length"] ?? 0) > Number(maximumBodySize)) {
          return yield* refuse(413, "The body of this request is larger than 32 MiB.")
        }
      }
      const checked = takesJson(endpoint) ? yield* withText(request) : request
      if (checked === undefined) return yield* refuse(400, "The body of this request is not UTF-8.")
      return yield* onceByKey(sql, endpoint, checked, answered).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, checked),
        Effect.provideService(HttpIncomingMessage.MaxBodySize, maximumBodySize)
      )
    })
  }
