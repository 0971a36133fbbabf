/**
 * Calls with an idempotency key, of requests and of callers in this process: a call and its answer commit together, so
 * that the same call gets the first answer again. (docs/decisions/retries.md)
 */
import {
  CallName,
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  type InvalidInput,
  type KeyedCall,
  NamedRun,
  ServiceError
} from "@roster/domain"
import { checkIdempotencyKey, JsonParser } from "@roster/domain/internal"
import { Effect, Option, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { Caller } from "./Caller.ts"
import { checkCaller } from "./CallerCheck.ts"
import { inAtomicTransaction } from "../store/sqlite/GroupCommit.ts"
import {
  type AnswerBody,
  answerBody,
  answersFull,
  answerText,
  findAnswer,
  forgetAnswer,
  hasCapacity,
  keepAnswer,
  type SentBody
} from "../store/KeptAnswers.ts"
import { storeClock } from "../store/StoreClock.ts"
import { isSqlError, storeFailure } from "../store/StoreFailure.ts"

/** How the answer of a call is kept. */
export interface KeptCall<A extends object, E, R> {
  readonly key: string
  /** Tells the call from all others. */
  readonly digest: Buffer
  /** Makes what is kept of an answer; `undefined` if it is not. */
  readonly write: (answer: A) => { readonly status: number; readonly body: AnswerBody } | undefined
  /** Gives the answer again to who may still call; `undefined` if what it names is gone, so that the call is made anew. */
  readonly read: (
    status: number,
    kept: { readonly text: () => string; readonly body: () => SentBody; readonly created: number }
  ) => Effect.Effect<A | undefined, E, R>
  /** Refuses the key of another call, or a call whose answer has no room. */
  readonly refuse: (why: "used" | "full") => Effect.Effect<A, E>
}

/**
 * Gives the kept answer of a call, or carries it out and keeps its answer. One that commits by itself does not commit
 * with its answer: what it did stays done, and a repeat whose answer was not kept does what is left.
 */
export const onceByKey = <A extends object, E, E2, R, R2>(
  sql: SqlClient.SqlClient,
  { digest, key, read, refuse, write }: KeptCall<A, E, R2>,
  call: Effect.Effect<A, E2, R>,
  commitsItself = false
) => {
  const find = Effect.gen(function* () {
    const { account } = yield* Caller
    const { known, ...kept } = yield* findAnswer(sql, account, key)
    if (known === undefined) return (yield* hasCapacity(sql, account, kept)) ? undefined : yield* refuse("full")
    if (!digest.equals(known.request_digest)) return yield* refuse("used")
    const again = yield* read(known.status, {
      text: () => answerText(known),
      body: () => answerBody(sql, account, key, known),
      created: Number(known.created)
    })
    if (again === undefined) yield* forgetAnswer(sql, account, key)
    return again
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

/** For how many seconds after a call the same call is one that was made at the same time, unless it has the same name. */
const inUseSeconds = 2

/**
 * What is kept of an answer with a secret: what it is of, and the name of the call. The secret is in the hands of whoever
 * made that call, so another caller who makes the same call at the same time gets no other one in its place.
 */
export const keptWithName = (id: string, name: string | undefined): string =>
  name === undefined ? id : `${id} ${name}`

/** What a kept answer is of, for a repetition: by the call of the same name, or by any once that is no call of the same time. */
export const repeatedOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { created, text }: { readonly created: number; readonly text: () => string }
) {
  const [id = "", name] = text().split(" ")
  if (name === undefined || name !== (yield* CallName)) {
    const left = created + inUseSeconds - (yield* storeClock(sql).seconds)
    if (left > 0) return yield* new IdempotencyKeyInUse({ retryAfter: Math.min(left, inUseSeconds) })
  }
  return id
})

/** How a result is kept as a text. */
interface KeptResult<Result, R> {
  readonly write: (result: Result) => string
  /** Gives the result again; `undefined` if what it names is gone. */
  readonly read: (kept: { readonly text: () => string }) => Effect.Effect<Result | undefined, SqlError.SqlError, R>
}

/** Keeps results as they are. */
export const asItWas = <Result, Encoded>(schema: Schema.Codec<Result, Encoded>): KeptResult<Result, never> => {
  const codec = JsonParser.fromJsonString(schema)
  const decode = Schema.decodeUnknownSync(codec)
  const encode = Schema.encodeSync(codec)
  return { write: (result) => encode(result), read: ({ text }) => Effect.sync(() => decode(text())) }
}

/** Tells a call of an operation from all others. No digest of a request equals it, since that begins with a path. */
export const callDigest = (operation: string, input: string): Buffer =>
  createHash("sha256").update(operation).update("\0").update(input).digest()

/** Makes the function that carries out the calls of one operation. The input is encoded only if there is a key. */
export const keyedCalls = <A, I, Result extends object, R2 = never>(
  sql: SqlClient.SqlClient,
  operation: string,
  schema: Schema.Codec<A, I>,
  kept: KeptResult<Result, R2>
) => {
  const encodeInput = Schema.encodeUnknownEffect(JsonParser.fromJsonString(schema))

  return <E, R>(
    { idempotencyKey: key }: KeyedCall,
    input: () => unknown,
    call: Effect.Effect<Result, E, R>
  ): Effect.Effect<Result, E | IdempotencyKeyReused | InvalidInput | ServiceError, R | R2> => {
    if (key === undefined) return call
    const run = Effect.gen(function* () {
      yield* checkIdempotencyKey(key)
      const text = yield* Effect.option(
        Effect.flatMap(Effect.try({ try: input, catch: () => "unreadable" }), encodeInput)
      )
      const inRun = yield* NamedRun
      // What cannot be encoded is refused by the call itself.
      if (Option.isNone(text)) return yield* call
      const once: KeptCall<Result, IdempotencyKeyReused | ServiceError | SqlError.SqlError, R2> = {
        key,
        digest: callDigest(inRun === undefined ? operation : `${operation} ${inRun}`, text.value),
        write: (result) => ({ status: 200, body: kept.write(result) }),
        read: (_, answer) =>
          Effect.andThen(
            checkCaller(sql, operation),
            Effect.suspend(() => kept.read(answer))
          ),
        refuse: (why) =>
          Effect.fail(
            why === "used" ? new IdempotencyKeyReused({}) : new ServiceError({ operation, reason: answersFull })
          )
      }
      return yield* onceByKey(sql, once, call)
    })
    return Effect.catchIf(run, isSqlError<E | IdempotencyKeyReused | InvalidInput | ServiceError>, (error) =>
      storeFailure(operation, error)
    )
  }
}
