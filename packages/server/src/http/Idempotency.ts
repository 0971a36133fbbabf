/**
 * Calls that carry an Idempotency-Key: what a call does and the answer to it are one transaction, so that the same call,
 * sent again, is answered as it was and does nothing. Answers that hold a secret are not kept; those operations are
 * protected by their names, which can be taken only once. (docs/decisions/retries.md)
 */
import { idempotencyKeyHeader } from "@roster/api"
import { Effect, identity } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { type SqlClient, SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { Caller } from "../credentials/Caller.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { inAtomicTransaction, sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { storeFailure } from "../store/StoreFailure.ts"
import { nowSeconds } from "../store/Timestamps.ts"

/** What is repeated by key. An import takes its file in before the transaction could begin. */
const keyed = new Set(["contactsPost", "contactsDeletePost", "contactsExportPost", "emailsPost"])

/** What is asked for in so few characters is little, but for a deletion. */
const smallBody = 4096

interface AnswerRow {
  readonly request_digest: Uint8Array
  readonly status: number
  /** Deflated: the answer to an add of 1000 contacts is large and says the same things often. */
  readonly body: Uint8Array
}

export const onceByKey = <E, R>(
  sql: SqlClient.SqlClient,
  endpoint: HttpApiEndpoint.Top,
  request: HttpServerRequest.HttpServerRequest,
  body: string,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  const key = request.headers[idempotencyKeyHeader.toLowerCase()]
  if (key === undefined || !keyed.has(endpoint.identifier)) return answer
  if (key.length === 0 || key.length > 255)
    return Effect.succeed(errorResponse(400, "An Idempotency-Key has 1 to 255 characters."))
  return once(sql, endpoint.identifier, key, request, body, answer)
}

const once = Effect.fnUntraced(function* <E, R>(
  sql: SqlClient.SqlClient,
  operation: string,
  key: string,
  request: HttpServerRequest.HttpServerRequest,
  body: string,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) {
  const { account } = yield* Caller
  const digest = createHash("sha256").update(request.url).update("\0").update(body).digest()
  const run = Effect.gen(function* () {
    const [known] = yield* sql<AnswerRow>`
      SELECT request_digest, status, body FROM idempotent_answers WHERE account = ${account} AND call_key = ${key}`
    if (known !== undefined) {
      return digest.equals(known.request_digest)
        ? replay(known)
        : errorResponse(409, "This Idempotency-Key was used for another request. Each call has a key of its own.")
    }
    const response = yield* answer
    const answered = bodyOf(response)
    if (response.status < 300 && answered !== undefined) {
      yield* sql`
        INSERT INTO idempotent_answers ${sql.insert({
          account,
          call_key: key,
          request_digest: digest,
          status: response.status,
          body: deflateRawSync(answered, { level: 1 }),
          created: yield* nowSeconds
        })}`
    }
    return response
  })
  // A 503 says that nothing was done, which nobody knows of a commit that was not synced.
  const failed = (error: SqlError.SqlError) =>
    Effect.catchTag(storeFailure(operation, error), "ServiceError", ({ message, reason }) =>
      Effect.succeed(errorResponse(reason._tag === "OutcomeUnknown" ? 500 : 503, message))
    )
  const isSmall = body.length <= smallBody && operation !== "contactsDeletePost"
  // Where the answer is a failure nothing of the call is kept.
  return yield* inAtomicTransaction(sql, run).pipe(
    isSmall ? sharingCommit : identity,
    Effect.catchIf(isStoreError<E>, failed)
  )
})

const isStoreError = <E>(error: E | SqlError.SqlError): error is SqlError.SqlError => SqlError.isSqlError(error)

const replay = ({ body, status }: AnswerRow): HttpServerResponse.HttpServerResponse => {
  const text = inflateRawSync(body).toString()
  return text === ""
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(text, { status, contentType: "application/json" })
}

const bodyOf = ({ body }: HttpServerResponse.HttpServerResponse): string | Uint8Array | undefined => {
  if (body._tag === "Empty") return ""
  if (body._tag === "Uint8Array") return body.body
  return body._tag === "Raw" && typeof body.body === "string" ? body.body : undefined
}
