import { idempotencyKeyHeader } from "@roster/api"
import { Effect, identity } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { type SqlClient, SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { Caller } from "../credentials/Caller.ts"
import { inAtomicTransaction, sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { storeFailure } from "../store/StoreFailure.ts"
import { nowSeconds } from "../store/Timestamps.ts"
import { errorResponse } from "./Routes.ts"

/** The operations that honour a key. An import receives its file before the transaction could begin. */
const keyed = new Set(["contactsPost", "contactsDeletePost", "contactsExportPost", "emailsPost"])

/** A request body of at most this many characters asks for little work, unless it is a deletion. */
const smallBody = 4096

interface AnswerRow {
  readonly request_digest: Uint8Array
  readonly status: number
  /** Deflated: the response to an add of 1000 contacts is large and repetitive. */
  readonly body: Uint8Array
}

/**
 * Carries out a call with an Idempotency-Key. Effect and response commit together, so that a retry gets the same
 * response. Responses with a secret are not stored; unique names protect those operations. (docs/decisions/retries.md)
 */
export const onceByKey = <E, R>(
  sql: SqlClient.SqlClient,
  { identifier: operation }: HttpApiEndpoint.Top,
  request: HttpServerRequest.HttpServerRequest,
  body: string,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  const key = request.headers[idempotencyKeyHeader.toLowerCase()]
  if (key === undefined || !keyed.has(operation)) return answer
  if (key.length === 0 || key.length > 255)
    return Effect.succeed(errorResponse(400, "An Idempotency-Key has 1 to 255 characters."))
  const digest = createHash("sha256").update(request.url).update("\0").update(body).digest()
  const run = Effect.gen(function* () {
    const { account } = yield* Caller
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
  // A 503 says that nothing was done, which is not certain after a commit that was not synced.
  const failed = (error: SqlError.SqlError) =>
    Effect.catchTag(storeFailure(operation, error), "ServiceError", ({ message, reason }) =>
      Effect.succeed(errorResponse(reason._tag === "OutcomeUnknown" ? 500 : 503, message))
    )
  const isSmall = body.length <= smallBody && operation !== "contactsDeletePost"
  // The transaction of a call that fails is rolled back as a whole.
  return inAtomicTransaction(sql, run).pipe(isSmall ? sharingCommit : identity, Effect.catchIf(isStoreError<E>, failed))
}

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
