/** Runs as their table has them, who may write in one, and until when. (docs/decisions/runs.md) */
import { RunNotFound, type RunRecord } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { CallerIdentity } from "../credentials/Caller.ts"
import { dialect } from "../store/SqlDialect.ts"
import { isOrphaned } from "../store/ProcessMark.ts"
import { fromSeconds, storeClock } from "../store/StoreClock.ts"

/** How long a run is taken after its last write, in seconds. */
export const leaseSeconds = 60

/** How long a run is kept after its end, or after its last write if it never ended, in seconds. */
export const keptSeconds = 30 * 24 * 60 * 60

/** The bytes of the changes of all runs of an account. */
export const maximumRunBytes = 2 * 1024 * 1024 * 1024

/** A row of `runs`, with whether a job writes for it. */
export interface RunRow {
  readonly number: number
  readonly id: string
  readonly command: string
  readonly about: string | null
  readonly input: string | null
  readonly undoes: string | null
  /** The key that began it; `null` for the owner of the store. */
  readonly key_id: number | null
  /** The name that the key had then. A rotation gives it to the key that it puts in its place. */
  readonly key_name: string | null
  readonly began: number
  readonly ended: number | null
  /** Until when it is taken. */
  readonly lease: number
  /** The process that is at work on it, if that has the store in itself: with its end the run is free. */
  readonly holder: string | null
  readonly changes: number
  readonly created: number
  readonly changed: number
  readonly deleted: number
  readonly bytes: number
  readonly step: string | null
  readonly has_job: number | boolean
}

const hasJob =
  "EXISTS (SELECT 1 FROM jobs WHERE jobs.account = runs.account AND run = runs.number AND jobs.ended IS NULL)"

/** The columns of a `RunRow`. */
export const runColumns = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(
    "number, id, command, about, input, undoes, key_id, key_name, began, ended, lease, holder, changes, created, changed, deleted, " +
      `bytes, step, ${hasJob} AS has_job`
  )

/** The runs of an account that are still kept. */
export const runsOf = (sql: SqlClient.SqlClient, account: string, now: number): Statement.Fragment =>
  sql`runs WHERE runs.account = ${account} AND goes > ${now}`

/** Whether a run may be left out of those that are kept, since it has ended and no job writes for it. */
export const isOver = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`runs.ended IS NOT NULL AND NOT ${sql.literal(hasJob)}`

/** The run of an id, which nobody else changes before the end of the transaction if it `locks`. */
export const findRun = Effect.fnUntraced(function* (account: string, id: string, locks = false) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* storeClock(sql).seconds
  const lock = locks ? dialect(sql).locked : sql.literal("")
  const [row] = yield* sql<RunRow>`SELECT ${runColumns(sql)} FROM ${runsOf(sql, account, now)} AND id = ${id} ${lock}`
  return row ?? (yield* new RunNotFound({ run: id }))
})

/** Whether the key that began a run calls, or the one that a rotation put in its place, which has its name. */
export const isOwnRun = ({ key_id, key_name }: Pick<RunRow, "key_id" | "key_name">, { key }: CallerIdentity): boolean =>
  key === undefined ? key_id === null : key_id !== null && (Number(key_id) === key.id || key_name === key.name)

/** Whether somebody is at work on a run. */
export const isTaken = ({ ended, has_job, holder, lease }: RunRow, now: number): boolean =>
  Boolean(has_job) || (ended === null && Number(lease) > now && (holder === null || !isOrphaned(holder)))

/** The record of a row. */
export const toRun = (row: RunRow, now: number): RunRecord => ({
  id: row.id,
  command: row.command,
  ...(row.about === null ? {} : { about: row.about }),
  ...(row.input === null ? {} : { input: row.input }),
  ...(row.undoes === null ? {} : { undoes: row.undoes }),
  key: row.key_name,
  began: fromSeconds(Number(row.began)),
  ended: row.ended === null ? null : fromSeconds(Number(row.ended)),
  isTaken: isTaken(row, now),
  changes: Number(row.changes),
  created: Number(row.created),
  changed: Number(row.changed),
  deleted: Number(row.deleted),
  ...(row.step === null ? {} : { step: row.step })
})
