/**
 * Calls of the services with an idempotency key of the caller's own, as `http/Idempotency.ts` has them for requests: a call
 * and its result commit together, so that the same call returns the first result. (docs/decisions/retries.md)
 */
import {
  checkIdempotencyKey,
  type InvalidInput,
  type KeyedCall,
  RateLimited,
  ServiceError,
  usedIdempotencyKey
} from "@roster/domain"
import { Effect, Option, Schema } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"
import { Caller } from "../credentials/Caller.ts"
import { inAtomicTransaction } from "../store/sqlite/GroupCommit.ts"
import { storeFailure } from "../store/StoreFailure.ts"
import { nowSeconds } from "../store/Timestamps.ts"

/** The bytes of the results that are kept for one account, the same as of responses. */
const maximumAnswerBytes = 1024 * 1024 * 1024

/** The size of a result besides its text. */
const answerOverhead = 512

/** In seconds: older results make room for new ones. */
const repeatedFor = 5 * 60

/** The oldest results that one call removes. */
const removedAtOnce = 16

interface FoundRow {
  readonly request_digest: Uint8Array | null
  readonly body: Uint8Array | null
  /** The sums of bytes up to the newest and the oldest result of the account. */
  readonly last: number | null
  readonly first: number | null
}

const answersFull = (operation: string) =>
  new ServiceError({
    operation,
    reason: new RateLimited({
      detail:
        "the answers kept for its Idempotency-Keys hold 1 GiB. Wait, send less at once, or send without an Idempotency-Key.",
      retryAfter: repeatedFor
    })
  })

/** Makes the function that carries out the calls of one operation. The input is encoded only if there is a key. */
export const keyedCalls = <A, I, Result, Encoded>(
  sql: SqlClient.SqlClient,
  operation: string,
  schemas: { readonly input: Schema.Codec<A, I>; readonly result: Schema.Codec<Result, Encoded> }
) => {
  const encodeInput = Schema.encodeUnknownEffect(Schema.fromJsonString(schemas.input))
  const encodeResult = Schema.encodeEffect(Schema.fromJsonString(schemas.result))
  const decodeResult = Schema.decodeUnknownEffect(Schema.fromJsonString(schemas.result))

  const find = Effect.fnUntraced(function* (account: string, key: string) {
    const [found] = yield* sql<FoundRow>`
      SELECT last, first, request_digest, body FROM (
        SELECT (SELECT max(running) FROM idempotent_answers WHERE account = ${account}) AS last,
          (SELECT min(running) FROM idempotent_answers WHERE account = ${account}) AS first
      ) AS kept LEFT JOIN idempotent_answers ON account = ${account} AND call_key = ${key}`
    const { body = null, first = null, last = null, request_digest: digest = null } = found ?? {}
    return {
      known: digest === null || body === null ? undefined : { digest, body },
      first: first ?? 0,
      last: last ?? 0
    }
  })

  /** Fails if the results of the account take too much room, though the old ones have gone. */
  const checkRoom = Effect.fnUntraced(function* (account: string, first: number, last: number) {
    if (Number(last) - Number(first) < maximumAnswerBytes) return
    yield* sql`
      DELETE FROM idempotent_answers WHERE account = ${account} AND created <= ${(yield* nowSeconds) - repeatedFor}
        AND call_key IN (
          SELECT call_key FROM idempotent_answers WHERE account = ${account} ORDER BY running LIMIT ${removedAtOnce}
        )`
    const [row] = yield* sql<Pick<FoundRow, "first">>`
      SELECT min(running) AS first FROM idempotent_answers WHERE account = ${account}`
    if (Number(last) - Number(row?.first ?? last) >= maximumAnswerBytes) return yield* answersFull(operation)
  })

  const once = Effect.fnUntraced(function* <E, R>(key: string, text: string, call: Effect.Effect<Result, E, R>) {
    const { account } = yield* Caller
    // No digest of a request equals it, since that begins with a path.
    const digest = createHash("sha256").update(operation).update("\0").update(text).digest()
    const { first, known, last } = yield* find(account, key)
    if (known !== undefined) {
      if (!digest.equals(known.digest)) return yield* usedIdempotencyKey()
      // It was written by the same schema.
      return yield* Effect.orDie(decodeResult(inflateRawSync(known.body).toString()))
    }
    yield* checkRoom(account, first, last)
    const result = yield* call
    const body = deflateRawSync(yield* Effect.orDie(encodeResult(result)), { level: 1 })
    yield* sql`
      INSERT INTO idempotent_answers ${sql.insert({
        account,
        call_key: key,
        request_digest: digest,
        status: 200,
        body,
        running: Number(last) + body.length + answerOverhead,
        created: yield* nowSeconds
      })}`
    return result
  })

  return <E, R>(
    { idempotencyKey: key }: KeyedCall,
    input: () => unknown,
    call: Effect.Effect<Result, E, R>
  ): Effect.Effect<Result, E | InvalidInput | ServiceError, R> => {
    if (key === undefined) return call
    const run = Effect.gen(function* () {
      yield* checkIdempotencyKey(key)
      const text = yield* Effect.option(
        Effect.flatMap(Effect.try({ try: input, catch: () => "unreadable" }), encodeInput)
      )
      // What cannot be encoded is refused by the call itself.
      return yield* Option.isNone(text) ? call : inAtomicTransaction(sql, once(key, text.value, call))
    })
    return Effect.catchIf(run, isStoreError<E | InvalidInput | ServiceError>, (error) => storeFailure(operation, error))
  }
}

const isStoreError = <E>(error: E | SqlError.SqlError): error is SqlError.SqlError => SqlError.isSqlError(error)
