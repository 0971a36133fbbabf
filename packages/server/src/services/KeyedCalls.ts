/**
 * Calls with an idempotency key, of requests and of callers in this process: a call and its answer commit together, so
 * that the same call gets the first answer again. (docs/decisions/retries.md)
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
import {
  type AnswerBody,
  answerBody,
  answersFull,
  answerText,
  findAnswer,
  hasCapacity,
  keepAnswer,
  type SentBody
} from "../store/KeptAnswers.ts"
import { isSqlError, storeFailure } from "../store/StoreFailure.ts"

/** How the answer of a call is kept. */
interface KeptCall<A extends object, E> {
  readonly key: string
  /** Tells the call from all others. */
  readonly digest: Buffer
  /** Makes what is kept of an answer; `undefined` if it is not. */
  readonly write: (answer: A) => { readonly status: number; readonly body: AnswerBody } | undefined
  readonly read: (status: number, kept: { readonly text: () => string; readonly body: () => SentBody }) => A
  /** Refuses the key of another call, or a call whose answer has no room. */
  readonly refuse: (why: "used" | "full") => Effect.Effect<A, E>
}

/**
 * Gives the kept answer of a call, or carries it out and keeps its answer. One that commits by itself does not commit
 * with its answer: what it did stays done, and a repeat whose answer was not kept does what is left.
 */
export const onceByKey = <A extends object, E, E2, R>(
  sql: SqlClient.SqlClient,
  { digest, key, read, refuse, write }: KeptCall<A, E>,
  call: Effect.Effect<A, E2, R>,
  commitsItself = false
) => {
  const find = Effect.gen(function* () {
    const { account } = yield* Caller
    const { known, ...kept } = yield* findAnswer(sql, account, key)
    if (known === undefined) return (yield* hasCapacity(sql, account, kept)) ? undefined : yield* refuse("full")
    if (!digest.equals(known.request_digest)) return yield* refuse("used")
    return read(known.status, {
      text: () => answerText(known),
      body: () => answerBody(sql, account, key, known)
    })
  })
  const keep = Effect.fnUntraced(function* (answer: A) {
    const { account } = yield* Caller
    const kept = write(answer)
    if (kept !== undefined) yield* keepAnswer(sql, { account, key, digest, ...kept })
  })
  const once = Effect.gen(function* () {
    const known = yield* commitsItself ? sql.withTransaction(find) : find
    if (known !== undefined) return known
    const answer = yield* call
    const keepIfNew = Effect.flatMap(find, (known) => (known === undefined ? keep(answer) : Effect.void))
    yield* commitsItself ? Effect.ignore(sql.withTransaction(keepIfNew)) : keep(answer)
    return answer
  })
  // The transaction of a call that fails is rolled back as a whole.
  return commitsItself ? once : inAtomicTransaction(sql, once)
}

/** Makes the function that carries out the calls of one operation. The input is encoded only if there is a key. */
export const keyedCalls = <A, I, Result extends object, Encoded>(
  sql: SqlClient.SqlClient,
  operation: string,
  schemas: { readonly input: Schema.Codec<A, I>; readonly result: Schema.Codec<Result, Encoded> }
) => {
  const encodeInput = Schema.encodeUnknownEffect(JsonParser.fromJsonString(schemas.input))
  const encodeResult = Schema.encodeSync(JsonParser.fromJsonString(schemas.result))
  const decodeResult = Schema.decodeUnknownSync(JsonParser.fromJsonString(schemas.result))

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
      if (Option.isNone(text)) return yield* call
      const kept: KeptCall<Result, InvalidInput | ServiceError> = {
        key,
        // No digest of a request equals it, since that begins with a path.
        digest: createHash("sha256").update(operation).update("\0").update(text.value).digest(),
        write: (result) => ({ status: 200, body: encodeResult(result) }),
        read: (_, kept) => decodeResult(kept.text()),
        refuse: (why) =>
          Effect.fail(why === "used" ? usedIdempotencyKey() : new ServiceError({ operation, reason: answersFull }))
      }
      return yield* onceByKey(sql, kept, call)
    })
    return Effect.catchIf(run, isSqlError<E | InvalidInput | ServiceError>, (error) => storeFailure(operation, error))
  }
}
