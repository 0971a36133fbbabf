/**
 * Bulk deletes, in transactions that are too short to hold up others. One that has begun is finished, whether or not its
 * caller still waits; after a crash a repeat deletes the rest. (docs/decisions/rules.md)
 */
import { OutcomeUnknown, type Rule, type RunRefused, ServiceError } from "@roster/domain"
import { type DateTime, Effect, Iterable } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { openRun } from "../runs/RunRecorder.ts"
import { dialect } from "../store/SqlDialect.ts"
import { storeFailure } from "../store/StoreFailure.ts"
import { beginSlice, yieldToEventLoop } from "../threads/Slices.ts"
import { deleteThose } from "./RecordedContacts.ts"
import { rowMatcher } from "./RuleScan.ts"

/** The maximum number of contacts that one transaction deletes. */
export const deletedAtOnce = 1000

/** The contacts that one statement deletes: with each go its places on up to 100 lists. */
const deletedInPiece = 100

/** The time, in milliseconds, in which one transaction looks at contacts. */
const deletionMillis = 50

const operation = "contactsDeletePost"

const halfDone = new ServiceError({
  operation,
  reason: new OutcomeUnknown({
    detail: "the store failed when a part of the contacts was deleted",
    recovery: "Delete the same again, which deletes the rest."
  })
})

/** Runs a transaction until it says that there is no more to do, and lets others read and write in between. */
const inTransactions = Effect.fnUntraced(function* <R>(
  transaction: Effect.Effect<boolean, RunRefused | SqlError.SqlError, R>
) {
  let isMore = yield* transaction
  while (isMore) {
    yield* yieldToEventLoop
    isMore = yield* Effect.catchTag(transaction, "SqlError", (error) =>
      Effect.mapError(storeFailure(operation, error), () => halfDone)
    )
  }
}, Effect.uninterruptible)

/** Deletes what is named by some keys, with others answered between the pieces. */
export const deletedInPieces = <A, E, R>(
  keys: ReadonlyArray<A>,
  remove: (some: ReadonlyArray<A>) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, E, R> =>
  Effect.forEach(
    Iterable.chunksOf(keys, deletedInPiece),
    (some, index) => (index === 0 ? remove(some) : Effect.andThen(yieldToEventLoop, remove(some))),
    { discard: true }
  )

/** Deletes the contacts of an account with these canonical addresses. */
export const deleteIdentities = Effect.fnUntraced(function* (account: string, identities: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOf } = dialect(sql)
  let done = 0
  const deleteSome = Effect.flatMap(openRun, (run) =>
    deletedInPieces(identities.slice(done, done + deletedAtOnce), (some) =>
      deleteThose(run, account, isOneOf("identity", some))
    )
  )
  const transaction = Effect.map(sql.withTransaction(deleteSome), () => {
    done += deletedAtOnce
    return done < identities.length
  })
  yield* inTransactions(transaction)
})

/** Deletes all contacts that an account has now. */
export const deleteEveryone = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const [newest] = yield* sql<{ readonly id: number | null }>`
    SELECT max(id) AS id FROM contacts WHERE account = ${account}`
  const { isOneOfIds } = dialect(sql)
  const deleteSome = Effect.gen(function* () {
    const run = yield* openRun
    const rows = yield* sql`
      SELECT id FROM contacts WHERE account = ${account} AND id <= ${newest?.id ?? 0} ORDER BY id LIMIT ${deletedAtOnce}`
      .values
    yield* deletedInPieces(
      rows.map(([id]) => Number(id)),
      (some) => deleteThose(run, account, isOneOfIds(some))
    )
    return rows.length === deletedAtOnce
  })
  yield* inTransactions(sql.withTransaction(deleteSome))
})

/** Deletes contacts that a rule selected. One that has changed so that it no longer does is kept. */
export const deleteSelected = Effect.fnUntraced(function* (
  account: string,
  ids: Float64Array,
  rule: Rule.Rule,
  now: DateTime.Utc
) {
  if (ids.length === 0) return
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds, locked } = dialect(sql)
  const { columns, matches } = rowMatcher(rule, now)
  let done = 0
  const deleteSome = Effect.gen(function* () {
    const run = yield* openRun
    const some = Array.from(ids.subarray(done, done + deletedAtOnce))
    const rows = yield* sql`
      SELECT id${sql.literal(columns)} FROM contacts WHERE account = ${account} AND ${isOneOfIds(some)}
      ORDER BY id ${locked}`.values
    const isOver = yield* beginSlice(deletionMillis)
    const selected: Array<number> = []
    let last = some.at(-1)
    for (const row of rows) {
      if (matches(row)) selected.push(Number(row[0]))
      if (!isOver()) continue
      last = Number(row[0])
      break
    }
    yield* deletedInPieces(selected, (some) => deleteThose(run, account, isOneOfIds(some)))
    return last
  })
  const transaction = Effect.map(sql.withTransaction(deleteSome), (last) => {
    done = last === undefined ? ids.length : ids.indexOf(last, done) + 1
    return done < ids.length
  })
  yield* inTransactions(transaction)
})
