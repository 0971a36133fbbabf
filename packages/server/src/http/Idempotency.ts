/** Answers a repeated call with an Idempotency-Key as its first one was answered. (docs/decisions/retries.md) */
import { idempotencyKeyHeader, type OperationId, OperationPolicy, resubscribeHeader, runHeader } from "@roster/api"
import { IdempotencyKeyReused, maximumIdempotencyKey } from "@roster/domain"
import { isIdempotencyKey } from "@roster/domain/internal"
import { Context, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { SqlClient, SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { Caller, mayViewContacts } from "../credentials/Caller.ts"
import { checkCaller } from "../credentials/CallerCheck.ts"
import { onceByKey } from "../credentials/KeyedCalls.ts"
import { sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { type AnswerBody, answersFull, type SentBody } from "../store/KeptAnswers.ts"
import { isSqlError, storeFailure } from "../store/StoreFailure.ts"
import { nameKey } from "./QueryNames.ts"
import { errorResponse } from "./Routes.ts"
import { toWireError, type WireFailure } from "./WireErrors.ts"

/**
 * Whether the answer of an operation is kept. Those with a secret honour the key themselves. An import receives its file
 * before the transaction could begin.
 */
const isKept = ({ annotations }: HttpApiEndpoint.Top): boolean => {
  const { answersSecret = false, headers = [] } = Context.getUnsafe(annotations, OperationPolicy)
  return headers.includes(idempotencyKeyHeader) && !answersSecret
}

/** A request body of at most this many characters asks for little work. */
const smallBody = 4096

/** A bulk delete makes its own transactions, so the service keeps no answer of it. Deleting again does no harm. */
const ownTransactions = "contactsDeletePost"

/** The operations whose answers hold contacts; a key that may not view contacts gets only what it sent. */
const showContacts: ReadonlySet<string> = new Set<OperationId>(["contactsPost", "contactsChangesPost"])

/** Whether a call of changes is a dry run, which the service carries out each time. */
const isDryRun = (url: string): boolean =>
  Array.from(new URLSearchParams(url.split("?")[1])).some(
    ([name, value]) => nameKey(name) === nameKey("dryRun") && value === "true"
  )

/** The response to a call with the key of another one. */
const usedByAnother = () => errorResponse(409, new IdempotencyKeyReused({}).message)

const refusedAsFull = (): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(errorResponse(429, answersFull.message), "retry-after", `${answersFull.retryAfter ?? 0}`)

/**
 * Carries out a call with an Idempotency-Key. Effect and response commit together, but for a bulk delete, so that a retry
 * gets the same response. (docs/decisions/retries.md)
 */
export const answerOnce = <E, R>(
  sql: SqlClient.SqlClient,
  endpoint: HttpApiEndpoint.Top,
  request: HttpServerRequest.HttpServerRequest,
  body: string,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E | WireFailure, R> => {
  const key = request.headers[idempotencyKeyHeader.toLowerCase()]
  if (key === undefined || !isKept(endpoint) || isDryRun(request.url)) return answer
  if (!isIdempotencyKey(key)) {
    const text = `One Idempotency-Key is sent, of 1 to ${maximumIdempotencyKey} visible ASCII characters.`
    return Effect.succeed(errorResponse(400, text))
  }
  const operation = endpoint.identifier
  const resubscribe = request.headers[resubscribeHeader.toLowerCase()]
  const run = request.headers[runHeader.toLowerCase()]
  const once = Effect.flatMap(Caller, (caller) => {
    const hash = createHash("sha256").update(request.url).update("\0").update(body)
    // No JSON holds a NUL, so no other request has this digest.
    if (resubscribe !== undefined) hash.update("\0").update(resubscribe)
    if (run !== undefined) hash.update("\0\0").update(run)
    // Nobody gets the contacts that were answered to a key that may see more.
    if (showContacts.has(operation) && !mayViewContacts(caller)) hash.update("\0")
    const digest = hash.digest()
    return onceByKey(
      sql,
      {
        key,
        digest,
        write: (response) => (response.status < 300 ? { status: response.status, body: bodyOf(response) } : undefined),
        read: (status, kept) =>
          checkCaller(sql, operation).pipe(
            Effect.catchTag("ServiceError", (error) => toWireError(Effect.fail(error))),
            Effect.andThen(Effect.sync(() => replay(status, kept.body())))
          ),
        refuse: (why) => Effect.succeed(why === "used" ? usedByAnother() : refusedAsFull())
      },
      answer,
      operation === ownTransactions
    )
  })
  // A 503 says that nothing was done, which is not certain after a commit that was not synced.
  const failed = (error: SqlError.SqlError) =>
    Effect.catchTag(storeFailure(operation, error), "ServiceError", ({ message, reason }) =>
      Effect.succeed(errorResponse(reason._tag === "OutcomeUnknown" ? 500 : 503, message))
    )
  const isShared = operation !== ownTransactions && body.length <= smallBody
  return Effect.catchIf(isShared ? sharingCommit(once) : once, isSqlError<E | WireFailure>, failed)
}

const contentType = "application/json"

const replay = (status: number, body: SentBody): HttpServerResponse.HttpServerResponse => {
  if (typeof body !== "string") return HttpServerResponse.stream(body, { status, contentType })
  return body === "" ? HttpServerResponse.empty({ status }) : HttpServerResponse.text(body, { status, contentType })
}

/** What a response consists of. */
const bodyOf = ({ body }: HttpServerResponse.HttpServerResponse): AnswerBody => {
  if (body._tag === "Uint8Array") return body.body
  if (body._tag === "Stream") return body.stream
  return body._tag === "Raw" && typeof body.body === "string" ? body.body : ""
}
