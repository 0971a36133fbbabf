/**
 * Calls of the services with an idempotency key of the caller's own, as `http/Idempotency.ts` has them for requests: a call
 * and its result commit together, so that the same call returns the first result. (docs/decisions/retries.md)
 */
import {
  checkIdempotencyKey,
  type InvalidInput,
  JsonParser,
  type KeyedCall,
  ServiceError,
  usedIdempotencyKey
} from "@roster/domain"
import { Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { Caller } from "../credentials/Caller.ts"
import { inAtomicTransaction } from "../store/sqlite/GroupCommit.ts"
import { answersFull, answerText, findAnswer, hasCapacity, keepAnswer } from "../store/KeptAnswers.ts"
import { isSqlError, storeFailure } from "../store/StoreFailure.ts"

/** Makes the function that carries out the calls of one operation. The input is encoded only if there is a key. */
export const keyedCalls = <A, I, Result, Encoded>(
  sql: SqlClient.SqlClient,
  operation: string,
  schemas: { readonly input: Schema.Codec<A, I>; readonly result: Schema.Codec<Result, Encoded> }
) => {
  const encodeInput = Schema.encodeUnknownEffect(JsonParser.fromJsonString(schemas.input))
  const encodeResult = Schema.encodeEffect(JsonParser.fromJsonString(schemas.result))
  const decodeResult = Schema.decodeUnknownEffect(JsonParser.fromJsonString(schemas.result))

  const once = Effect.fnUntraced(function* <E, R>(key: string, text: string, call: Effect.Effect<Result, E, R>) {
    const { account } = yield* Caller
    // No digest of a request equals it, since that begins with a path.
    const digest = createHash("sha256").update(operation).update("\0").update(text).digest()
    const { known, ...kept } = yield* findAnswer(sql, account, key)
    if (known !== undefined) {
      if (!digest.equals(known.request_digest)) return yield* usedIdempotencyKey()
      // It was written by the same schema.
      return yield* Effect.orDie(decodeResult(answerText(known)))
    }
    if (!(yield* hasCapacity(sql, account, kept))) {
      return yield* new ServiceError({ operation, reason: answersFull })
    }
    const result = yield* call
    const body = yield* Effect.orDie(encodeResult(result))
    yield* keepAnswer(sql, { account, key, digest, status: 200, body })
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
    return Effect.catchIf(run, isSqlError<E | InvalidInput | ServiceError>, (error) => storeFailure(operation, error))
  }
}
