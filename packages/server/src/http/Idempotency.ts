import { idempotencyKeyHeader } from "@roster/api"
import { RateLimited } from "@roster/domain"
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

/** A request body of at most this many characters asks for little work. */
const smallBody = 4096

/** A bulk delete takes transactions of its own, and repeating it does no harm. */
const ownTransactions = "contactsDeletePost"

/**
 * The bytes of the responses that are kept for one account. Beyond them those go that no client asks for again, and
 * then new calls with a key are refused.
 */
const maximumAnswerBytes = 1024 * 1024 * 1024

/** The size of a response besides its body. */
const answerOverhead = 512

/** In seconds. Our client retries for two minutes. */
const retriedFor = 5 * 60

/** The oldest responses that one call removes, few enough not to delay others. */
const removedAtOnce = 16

const answersFull = (): HttpServerResponse.HttpServerResponse => {
  const detail =
    "the answers kept for its Idempotency-Keys hold 1 GiB. Wait, send less at once, or send without an Idempotency-Key."
  const { message, retryAfter = 0 } = new RateLimited({ detail, retryAfter: retriedFor })
  return HttpServerResponse.setHeader(errorResponse(429, message), "retry-after", `${retryAfter}`)
}

interface AnswerRow {
  readonly request_digest: Uint8Array
  readonly status: number
  /** Deflated: the response to an add of 1000 contacts is large and repetitive. */
  readonly body: Uint8Array
}

interface FoundRow extends Partial<AnswerRow> {
  /** The sums of bytes up to the newest and the oldest response of the account. */
  readonly last: number | null
  readonly first: number | null
}

const isKnown = (found: FoundRow): found is FoundRow & AnswerRow => typeof found.status === "number"

/** Removes some of the oldest responses that no client asks for again, and says whether there is room now. */
const makeRoom = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, account: string, last: number) {
  yield* sql`
    DELETE FROM idempotent_answers WHERE account = ${account} AND created <= ${(yield* nowSeconds) - retriedFor}
      AND call_key IN (
        SELECT call_key FROM idempotent_answers WHERE account = ${account} ORDER BY running LIMIT ${removedAtOnce}
      )`
  const [row] = yield* sql<Pick<FoundRow, "first">>`
    SELECT min(running) AS first FROM idempotent_answers WHERE account = ${account}`
  return last - Number(row?.first ?? last) < maximumAnswerBytes
})

/**
 * Carries out a call with an Idempotency-Key. Effect and response commit together, but for a bulk delete, so that a retry
 * gets the same response. Responses with a secret are not stored; unique names protect those operations. (docs/decisions/retries.md)
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
  const find = Effect.gen(function* () {
    const { account } = yield* Caller
    const [found] = yield* sql<FoundRow>`
      SELECT last, first, request_digest, status, body FROM (
        SELECT (SELECT max(running) FROM idempotent_answers WHERE account = ${account}) AS last,
          (SELECT min(running) FROM idempotent_answers WHERE account = ${account}) AS first
      ) AS kept LEFT JOIN idempotent_answers ON account = ${account} AND call_key = ${key}`
    const last = Number(found?.last ?? 0)
    if (found !== undefined && isKnown(found)) {
      const answer = digest.equals(found.request_digest)
        ? replay(found)
        : errorResponse(409, "This Idempotency-Key was used for another request. Each call has a key of its own.")
      return { account, last, answer }
    }
    const isFull = last - Number(found?.first ?? 0) >= maximumAnswerBytes
    return isFull && !(yield* makeRoom(sql, account, last))
      ? { account, last, answer: answersFull() }
      : { account, last, answer: undefined }
  })
  const keep = Effect.fnUntraced(function* (
    account: string,
    last: number,
    response: HttpServerResponse.HttpServerResponse
  ) {
    const answered = bodyOf(response)
    if (response.status >= 300 || answered === undefined) return
    const body = deflateRawSync(answered, { level: 1 })
    yield* sql`
      INSERT INTO idempotent_answers ${sql.insert({
        account,
        call_key: key,
        request_digest: digest,
        status: response.status,
        body,
        running: last + body.length + answerOverhead,
        created: yield* nowSeconds
      })}`
  })
  const run = Effect.gen(function* () {
    const { account, answer: known, last } = yield* find
    if (known !== undefined) return known
    const response = yield* answer
    yield* keep(account, last, response)
    return response
  })
  const runAlone = Effect.gen(function* () {
    const { answer: known } = yield* sql.withTransaction(find)
    if (known !== undefined) return known
    const response = yield* answer
    const kept = Effect.gen(function* () {
      const { account, answer: known, last } = yield* find
      if (known === undefined) yield* keep(account, last, response)
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
  return Effect.catchIf(inStore, isStoreError<E>, failed)
}

const isStoreError = <E>(error: E | SqlError.SqlError): error is SqlError.SqlError => SqlError.isSqlError(error)

const replay = ({ body, status }: AnswerRow): HttpServerResponse.HttpServerResponse => {
  const text = inflateRawSync(body).toString()
  return text === ""
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(text, { status, contentType: "application/json" })
}

/** The bytes or the text of a response; `undefined` for a stream. */
export const bodyOf = ({ body }: HttpServerResponse.HttpServerResponse): string | Uint8Array | undefined => {
  if (body._tag === "Empty") return ""
  if (body._tag === "Uint8Array") return body.body
  return body._tag === "Raw" && typeof body.body === "string" ? body.body : undefined
}
