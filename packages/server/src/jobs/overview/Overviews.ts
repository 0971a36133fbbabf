/**
 * The numbers of accounts, one row each. A request that finds none of the last minute asks for them in its row, and a worker counts: so
 * they cost nothing while nobody looks, and once a minute at most while somebody does. (docs/decisions/overview.md)
 */
import { type AccountOverview, AccountSummary, ContactStatus, maximumOverviewAge } from "@roster/domain"
import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { byEngine, dialect } from "../../store/SqlDialect.ts"
import { fromSeconds, storeClock } from "../../store/StoreClock.ts"
import { yieldToEventLoop } from "../../threads/Slices.ts"
import { leaseSeconds } from "../queue/JobQueue.ts"

/** The time, in seconds, after which numbers that nobody asks for any more are forgotten. They have names of lists. */
const keptSeconds = 60 * 60

const Stored = Schema.fromJsonString(AccountSummary)
const decodeStored = Schema.decodeUnknownEffect(Stored)
const encodeStored = Schema.encodeEffect(Stored)

interface OverviewRow {
  readonly wanted: number | null
  readonly counted: number | null
  readonly content: string | null
}

/** The numbers of an account if they are of the last minute. */
const readFresh = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* storeClock(sql).seconds
  const [row] = yield* sql<OverviewRow>`SELECT wanted, counted, content FROM overviews WHERE account = ${account}`
  const age = now - Number(row?.counted ?? -Infinity)
  // Of a clock that was set back the numbers would stay for long.
  const isFresh = row?.content != null && age >= 0 && age <= maximumOverviewAge
  const summary = isFresh ? yield* Effect.orDie(decodeStored(row.content)) : null
  return { summary, isWanted: row?.wanted != null }
})

/** Who counts. */
interface Worker {
  readonly wake: Effect.Effect<void>
  readonly settled: Effect.Effect<void>
  /** Whether there is nobody, so that whoever asks counts: a store that is read alone takes no note of what is asked. */
  readonly isAbsent?: boolean
}

/** The numbers of an account; asks for them if there are none of the last minute, and wakes who counts. */
export const readOverview = Effect.fnUntraced(function* (account: string, { isAbsent = false, settled, wake }: Worker) {
  const sql = yield* SqlClient.SqlClient
  if (isAbsent) {
    const begun = yield* storeClock(sql).seconds
    return { summary: yield* countAccount(account, begun, Effect.void) } satisfies AccountOverview
  }
  const { isWanted, summary } = yield* readFresh(account)
  if (summary !== null) return { summary } satisfies AccountOverview
  if (!isWanted) {
    const now = yield* storeClock(sql).seconds
    yield* sql`
      INSERT INTO overviews (account, wanted) VALUES (${account}, ${now})
      ON CONFLICT (account) DO UPDATE SET wanted = excluded.wanted`
    yield* wake
  }
  // Where jobs take no time of the clock, they are counted by now.
  yield* settled
  const { summary: counted } = yield* readFresh(account)
  return { summary: counted } satisfies AccountOverview
})

/** Whether numbers are to be counted, or forgotten. */
export const hasOverviews = (sql: SqlClient.SqlClient, now: Statement.Fragment | number) =>
  sql`EXISTS (SELECT 1 FROM overviews WHERE wanted IS NOT NULL AND leased_until <= ${now} OR counted <= ${now} - ${keptSeconds})`

/** Forgets numbers that nobody has asked for in an hour. */
export const forgetOverviews = (sql: SqlClient.SqlClient, now: number) =>
  sql`DELETE FROM overviews WHERE wanted IS NULL AND counted <= ${now - keptSeconds}`

/** Takes an account whose numbers are to be counted, if there is one. While one worker counts them, no other does. */
export const claimOverview = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* storeClock(sql).seconds
  const isFree = sql`wanted IS NOT NULL AND leased_until <= ${now}`
  const [row] = yield* sql<{ readonly account: string }>`
    UPDATE overviews SET leased_until = ${now + leaseSeconds}
    WHERE ${isFree} AND account = (SELECT account FROM overviews WHERE ${isFree} ORDER BY wanted LIMIT 1)
    RETURNING account`
  return row === undefined ? undefined : { account: row.account, begun: now }
})

const secondsOfDay = 24 * 60 * 60

const monthOf = (day: number): string => new Date(day * secondsOfDay * 1000).toISOString().slice(0, 7)

/** How many contacts one statement counts on SQLite, where others of the thread wait so long. PostgreSQL counts all, and nobody waits. */
const countedAtOnce = 5000

/** Adds to a number by its name. */
const addTo = (counts: Map<string, number>, name: string, more: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + more)
}

/** Counts an account, and tells after each statement that it is at it. */
export const countAccount = Effect.fnUntraced(function* <E, R>(
  account: string,
  begun: number,
  advance: Effect.Effect<unknown, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const statuses = new Map<string, number>()
  const months = new Map<string, number>()
  const { piece, table } = byEngine(sql, {
    sqlite: () => ({
      table: sql.literal("contacts INDEXED BY contacts_in_order"),
      piece: sql`ORDER BY id LIMIT ${countedAtOnce}`
    }),
    postgres: () => ({ table: sql.literal("contacts"), piece: sql.literal("") })
  })
  let contacts = 0
  for (let after = 0; ;) {
    // The rows of a statement are few enough to be sorted where they are.
    const rows = yield* sql`
      SELECT status, day, count(*), max(id) FROM (
        SELECT id, status, date_added / ${sql.literal(String(secondsOfDay))} AS day FROM ${table}
        WHERE account = ${account} AND id > ${after} ${piece}
      ) AS piece GROUP BY status, day`.valuesUnprepared
    let read = 0
    for (const [status, day, count, last] of rows) {
      read += Number(count)
      addTo(statuses, String(status), Number(count))
      addTo(months, monthOf(Number(day)), Number(count))
      after = Math.max(after, Number(last))
    }
    contacts += read
    if (read !== countedAtOnce) break
    yield* advance
    yield* yieldToEventLoop
  }
  const lists = yield* sql<{ readonly name: string; readonly contacts: number }>`
    SELECT name, (SELECT count(*) FROM list_members WHERE list_id = lists.id) AS contacts FROM lists
    WHERE account = ${account} ORDER BY ${dialect(sql).inByteOrder("name")}`
  const summary: AccountSummary = {
    counted: fromSeconds(begun),
    contacts,
    statuses: ContactStatus.literals.flatMap((status) => {
      const count = statuses.get(status)
      return count === undefined ? [] : [{ status, contacts: count }]
    }),
    months: [...months].sort(([a], [b]) => (a < b ? -1 : 1)).map(([month, contacts]) => ({ month, contacts })),
    lists: lists.map(({ contacts, name }) => ({ listName: name, contacts: Number(contacts) }))
  }
  return summary
})

/** Counts the numbers of an account that was taken. */
export const countOverview = Effect.fnUntraced(function* ({
  account,
  begun
}: {
  readonly account: string
  readonly begun: number
}) {
  const sql = yield* SqlClient.SqlClient
  let renewed = begun
  const advance = Effect.gen(function* () {
    const now = yield* storeClock(sql).seconds
    if (now < renewed + leaseSeconds / 2) return
    renewed = now
    yield* sql`UPDATE overviews SET leased_until = ${now + leaseSeconds} WHERE account = ${account}`
  })
  const summary = yield* countAccount(account, begun, advance)
  const content = yield* Effect.orDie(encodeStored(summary))
  yield* sql`
    UPDATE overviews SET content = ${content}, counted = ${begun}, wanted = NULL, leased_until = 0
    WHERE account = ${account}`
})
