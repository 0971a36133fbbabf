import { idempotencyKeyHeader, OperationPolicy, resubscribeHeader } from "@roster/api"
import { maximumIdempotencyKey } from "@roster/domain"
import { Context, Effect, identity } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { SqlClient, SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { Caller } from "../credentials/Caller.ts"
import { inAtomicTransaction, sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { answersFull, answerText, findAnswer, hasCapacity, keepAnswer } from "../store/KeptAnswers.ts"
import { isSqlError, storeFailure } from "../store/StoreFailure.ts"
import { errorResponse } from "./Routes.ts"

/** Whether an operation honours a key. An import receives its file before the transaction could begin. */
const isKeyed = ({ annotations }: HttpApiEndpoint.Top): boolean =>
  Context.getUnsafe(annotations, OperationPolicy).headers?.includes(idempotencyKeyHeader) === true

/** A request body of at most this many characters asks for little work. */
const smallBody = 4096

/** A bulk delete takes transactions of its own, and repeating it does no harm. */
const ownTransactions = "contactsDeletePost"

const refusedAsFull = (): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(errorResponse(429, answersFull.message), "retry-after", `${answersFull.retryAfter ?? 0}`)

/**
 * Carries out a call with an Idempotency-Key. Effect and response commit together, but for a bulk delete, so that a retry
 * gets the same response. Responses with a secret are not stored; unique names protect those operations.
 * (docs/decisions/retries.md)
 */
export const onceByKey = <E, R>(
  sql: SqlClient.SqlClient,
  endpoint: HttpApiEndpoint.Top,
  request: HttpServerRequest.HttpServerRequest,
  body: string,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  const key = request.headers[idempotencyKeyHeader.toLowerCase()]
  if (key === undefined || !isKeyed(endpoint)) return answer
  if (key.length === 0 || key.length > maximumIdempotencyKey)
    return Effect.succeed(errorResponse(400, `An Idempotency-Key has 1 to ${maximumIdempotencyKey} characters.`))
  const operation = endpoint.identifier
  const hash = createHash("sha256").update(request.url).update("\0").update(body)
  const resubscribe = request.headers[resubscribeHeader.toLowerCase()]
  // No JSON holds a NUL, so no other request has this digest.
  const digest = (resubscribe === undefined ? hash : hash.update("\0").update(resubscribe)).digest()
  const find = Effect.gen(function* () {
    const { account } = yield* Caller
    const { known, ...kept } = yield* findAnswer(sql, account, key)
    if (known !== undefined) {
      const answer = digest.equals(known.request_digest)
        ? replay(known.status, answerText(known))
        : errorResponse(409, "This Idempotency-Key was used for another request. Each call has a key of its own.")
      return { account, answer }
    }
    return { account, answer: (yield* hasCapacity(sql, account, kept)) ? undefined : refusedAsFull() }
  })
  const keep = Effect.fnUntraced(function* (account: string, response: HttpServerResponse.HttpServerResponse) {
    const body = bodyOf(response)
    const { status } = response
    if (status < 300 && body !== undefined) yield* keepAnswer(sql, { account, key, digest, status, body })
  })
  const run = Effect.gen(function* () {
    const { account, answer: known } = yield* find
    if (known !== undefined) return known
    const response = yield* answer
    yield* keep(account, response)
    return response
  })
  const runAlone = Effect.gen(function* () {
    const { answer: known } = yield* sql.withTransaction(find)
    if (known !== undefined) return known
    const response = yield* answer
    const kept = Effect.gen(function* () {
      const { account, answer: known } = yield* find
      if (known === undefined) yield* keep(account, response)
    })
    // What was deleted stays so: without a kept response a repeat deletes what is left.
    yield* Effect.ignore(sql.withTransaction(kept))
    return response
  })
  // A 503 says that nothing was done, which is not certain after a commit that was not synced.
  const failed = (error: SqlError.SqlError) =>
    Effect.catchTag(storeFailure(operation, error), "ServiceError", ({ message, reason }) =>
      Effect.succeed(errorResponse(reason._tag === "OutcomeUnknown" ? 500 : 503, message))
    )
  const isSmall = body.length <= smallBody
  // The transaction of a call that fails is rolled back as a whole.
  const inStore =
    operation === ownTransactions ? runAlone : inAtomicTransaction(sql, run).pipe(isSmall ? sharingCommit : identity)
  return Effect.catchIf(inStore, isSqlError<E>, failed)
}

const replay = (status: number, text: string): HttpServerResponse.HttpServerResponse =>
  text === ""
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(text, { status, contentType: "application/json" })

/** The bytes or the text of a response; `undefined` for a stream. */
export const bodyOf = ({ body }: HttpServerResponse.HttpServerResponse): string | Uint8Array | undefined => {
  if (body._tag === "Empty") return ""
  if (body._tag === "Uint8Array") return body.body
  return body._tag === "Raw" && typeof body.body === "string" ? body.body : undefined
}
