/**
 * Writes of all contacts that a filter selects, such as bulk deletes, in transactions that are too short to hold up others. One that
 * has begun is finished, whether or not its caller still waits; after a crash a repeat does the rest. (docs/decisions/rules.md)
 */
import {
  AccessDenied,
  canonicalEmail,
  ContactFilter,
  InvalidInput,
  maximumEmailsPerDelete,
  OutcomeUnknown,
  type Rule,
  type RunRefused,
  ServiceError
} from "@roster/domain"
import { checkFilter } from "@roster/domain/internal"
import { DateTime, Effect, Iterable } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { Caller, mayViewContacts } from "../credentials/Caller.ts"
import { checkCaller } from "../credentials/CallerCheck.ts"
import { openRun, type RunRecorder } from "../runs/RunRecorder.ts"
import { dialect } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { isSqlError, storeFailure } from "../store/StoreFailure.ts"
import { beginSlice, eachInSlices, yieldToEventLoop } from "../threads/Slices.ts"
import { readRule } from "./ContactSelection.ts"
import { checkEmails } from "./ContactValidation.ts"
import { rowMatcher } from "./RuleScan.ts"
import type { RuleScans } from "./RuleScans.ts"

/** What is done to many contacts. */
export interface BulkWrite<E = never> {
  readonly operation: string
  /** What is known if the store fails in its midst, and what then does the rest. */
  readonly halfDone: { readonly detail: string; readonly recovery: string }
  /** Writes some contacts, which a condition of SQL selects, and records them if there is a run. */
  readonly write: (
    run: RunRecorder | undefined,
    account: string,
    those: Statement.Fragment
  ) => Effect.Effect<unknown, E | RunRefused | SqlError.SqlError, SqlClient.SqlClient>
  /** Refuses a rule (default: none). */
  readonly checkRule?: (rule: Rule.Rule) => Effect.Effect<void, InvalidInput>
}

/** The maximum number of contacts that one transaction writes. */
export const writtenAtOnce = 1000

/** The contacts that one statement writes: with each that is deleted go its places on up to 100 lists. */
const writtenInPiece = 100

/** The time, in milliseconds, in which one transaction looks at contacts. */
const lookMillis = 50

type Transaction<E, R> = Effect.Effect<boolean, E | RunRefused | SqlError.SqlError, R>

/** Runs a transaction until it says that there is no more to do, and lets others read and write in between. */
const inTransactions = Effect.fnUntraced(function* <E, R>(
  { halfDone, operation }: BulkWrite<E>,
  transaction: Transaction<E, R>
) {
  let isMore = yield* transaction
  while (isMore) {
    yield* yieldToEventLoop
    isMore = yield* Effect.catchIf(transaction, isSqlError<E | RunRefused>, (error) =>
      Effect.mapError(
        storeFailure(operation, error),
        () => new ServiceError({ operation, reason: new OutcomeUnknown(halfDone) })
      )
    )
  }
}, Effect.uninterruptible)

/** Writes what is named by some keys, with others answered between the pieces. */
export const inPieces = <A, E, R>(
  keys: ReadonlyArray<A>,
  write: (some: ReadonlyArray<A>) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, E, R> =>
  Effect.forEach(
    Iterable.chunksOf(keys, writtenInPiece),
    (some, index) => (index === 0 ? write(some) : Effect.andThen(yieldToEventLoop, write(some))),
    { discard: true }
  )

/** Writes the contacts of an account with these canonical addresses. */
const writeIdentities = Effect.fnUntraced(function* <E>(
  bulk: BulkWrite<E>,
  account: string,
  identities: ReadonlyArray<string>
) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOf } = dialect(sql)
  let done = 0
  const writeSome = Effect.flatMap(openRun, (run) =>
    inPieces(identities.slice(done, done + writtenAtOnce), (some) =>
      bulk.write(run, account, isOneOf("identity", some))
    )
  )
  const transaction = Effect.map(sql.withTransaction(writeSome), () => {
    done += writtenAtOnce
    return done < identities.length
  })
  yield* inTransactions(bulk, transaction)
})

/** Writes all contacts that an account has now. */
export const writeEveryone = Effect.fnUntraced(function* <E>(bulk: BulkWrite<E>, account: string) {
  const sql = yield* SqlClient.SqlClient
  const [newest] = yield* sql<{ readonly id: number | null }>`
    SELECT max(id) AS id FROM contacts WHERE account = ${account}`
  const { isOneOfIds } = dialect(sql)
  let last = 0
  const writeSome = Effect.gen(function* () {
    const run = yield* openRun
    const rows = yield* sql`
      SELECT id FROM contacts WHERE account = ${account} AND id > ${last} AND id <= ${newest?.id ?? 0}
      ORDER BY id LIMIT ${writtenAtOnce}`.values
    const ids = rows.map(([id]) => Number(id))
    yield* inPieces(ids, (some) => bulk.write(run, account, isOneOfIds(some)))
    return ids
  })
  const transaction = Effect.map(sql.withTransaction(writeSome), (ids) => {
    last = ids.at(-1) ?? last
    return ids.length === writtenAtOnce
  })
  yield* inTransactions(bulk, transaction)
})

/** Writes contacts that a rule selected. One that has changed so that it no longer does is left as it is. */
export const writeSelected = Effect.fnUntraced(function* <E>(
  bulk: BulkWrite<E>,
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
  const writeSome = Effect.gen(function* () {
    const run = yield* openRun
    const some = Array.from(ids.subarray(done, done + writtenAtOnce))
    const rows = yield* sql`
      SELECT id${sql.literal(columns)} FROM contacts WHERE account = ${account} AND ${isOneOfIds(some)}
      ORDER BY id ${locked}`.values
    const isOver = yield* beginSlice(lookMillis)
    const selected: Array<number> = []
    let last = some.at(-1)
    for (const row of rows) {
      if (matches(row)) selected.push(Number(row[0]))
      if (!isOver()) continue
      last = Number(row[0])
      break
    }
    yield* inPieces(selected, (some) => bulk.write(run, account, isOneOfIds(some)))
    return last
  })
  const transaction = Effect.map(sql.withTransaction(writeSome), (last) => {
    done = last === undefined ? ids.length : ids.indexOf(last, done) + 1
    return done < ids.length
  })
  yield* inTransactions(bulk, transaction)
})

/** Writes all contacts that a filter selects. */
export const writeMany = Effect.fnUntraced(function* <E>(
  scans: RuleScans["Service"],
  bulk: BulkWrite<E>,
  filter: ContactFilter
) {
  const sql = yield* SqlClient.SqlClient
  const caller = yield* Caller
  const { account } = caller
  const { operation } = bulk
  /** What has begun is finished. */
  const mayWrite = checkCaller(sql, operation)
  yield* checkFilter(filter)
  yield* ContactFilter.$match(filter, {
    ByEmails: Effect.fnUntraced(function* ({ emails }) {
      if (emails.length > maximumEmailsPerDelete) {
        const issue = `${emails.length} addresses in one request, but at most ${maximumEmailsPerDelete} are allowed`
        return yield* new InvalidInput({ field: "emails", issue })
      }
      yield* checkEmails("emails", emails)
      const identities = yield* eachInSlices(emails, canonicalEmail)
      yield* mayWrite
      yield* writeIdentities(bulk, account, identities)
    }),
    ByRule: Effect.fnUntraced(function* ({ rule }) {
      const read = yield* readRule(rule)
      // How long a rule takes, and what is there afterwards, tells what the contacts hold.
      if (read._tag !== "All" && !mayViewContacts(caller)) {
        return yield* new ServiceError({ operation, reason: new AccessDenied({ required: "ViewContacts" }) })
      }
      if (read._tag === "All") return yield* Effect.andThen(mayWrite, writeEveryone(bulk, account))
      yield* bulk.checkRule?.(read) ?? Effect.void
      const now = yield* storeClock(sql).now
      const bounds = { operation, isDeletion: true }
      const asked = { account, rule: read, now: DateTime.toEpochMillis(now) }
      const all = { after: 0, offset: 0, limit: Number.POSITIVE_INFINITY }
      const ids = yield* scans.find(bounds, { ...asked, ...all })
      yield* mayWrite
      yield* writeSelected(bulk, account, ids, read, now)
    })
  })
})
