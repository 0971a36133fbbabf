/**
 * Records what a write of a run changes, in the transaction of that write and in one statement.
 * A write that names no run asks for nothing. (docs/decisions/runs.md)
 */
import { AuditDetails, NamedRun, RunRefused } from "@roster/domain"
import { type ChangeOfContact, runIdOf } from "@roster/domain/internal"
import { Context, Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { addToHour, mailOf } from "../credentials/WrittenSums.ts"
import { storeClock } from "../store/StoreClock.ts"
import { eachInSlices } from "../threads/Slices.ts"
import { insertRows, rowsOf } from "./ChangeRows.ts"
import { isOver, isOwnRun, keptSeconds, leaseSeconds, maximumRunBytes, type RunRow, runsOf } from "./RunRow.ts"

/** The number of the run that a job writes for (default: none). Its request named the run, and may end before the job does. */
export const RunOfJob = Context.Reference<number | undefined>("@roster/server/RunOfJob", {
  defaultValue: () => undefined
})

/** Records changes in a run that is open in the present transaction. */
export interface RunRecorder {
  /** The number of the run. */
  readonly number: number
  /** Its id. */
  readonly id: string
  readonly record: (
    changes: ReadonlyArray<ChangeOfContact>
  ) => Effect.Effect<void, RunRefused | SqlError.SqlError, SqlClient.SqlClient>
}

/** An account is looked at again whenever a run of it has grown by so many bytes. */
const lookedAtEvery = 1024 * 1024

/** Lets the oldest ended runs of an account go while all have too many bytes. Says whether that was enough. */
export const keepWithinBounds = Effect.fnUntraced(function* (account: string, now: number) {
  const sql = yield* SqlClient.SqlClient
  const kept = runsOf(sql, account, now)
  const [sum] = yield* sql<{ readonly bytes: number }>`SELECT coalesce(sum(bytes), 0) AS bytes FROM ${kept}`
  let over = Number(sum?.bytes ?? 0) - maximumRunBytes
  if (over <= 0) return true
  const rows = yield* sql<{ readonly number: number; readonly bytes: number }>`
    SELECT number, bytes FROM ${kept} AND bytes > 0 AND ${isOver(sql)} ORDER BY number`
  for (const { bytes, number } of rows) {
    if (over <= 0) break
    yield* sql`UPDATE runs SET goes = 0 WHERE number = ${number}`
    over -= Number(bytes)
  }
  return over <= 0
})

type Opened = Pick<RunRow, "number" | "key_id" | "key_name" | "id" | "command">

/**
 * Takes the run that the present call names, and renews its lease; `undefined` if it names none. Runs in the transaction of its
 * write, which locks the account before the run if it does, as `begin` does, and contacts after it.
 */
export const openRun = Effect.gen(function* () {
  const job = yield* RunOfJob
  const given = yield* NamedRun
  if (job === undefined && given === undefined) return undefined
  const named = given === undefined ? String(job) : runIdOf(given)
  const sql = yield* SqlClient.SqlClient
  const caller = yield* Caller
  const { account } = caller
  const now = yield* storeClock(sql).seconds
  const until = now + leaseSeconds
  const isMeant =
    job === undefined
      ? sql`account = ${account} AND id = ${named} AND ended IS NULL AND goes > ${now}`
      : sql`number = ${job} AND goes > ${now}`
  const [row] = yield* sql<Opened>`
    UPDATE runs SET lease = ${until}, goes = ${until + keptSeconds} WHERE ${isMeant} RETURNING number, id, key_id, key_name, command`
  if (row === undefined) {
    const [ended] = yield* sql`SELECT number FROM ${runsOf(sql, account, now)} AND id = ${named}`
    return yield* new RunRefused({ run: named, why: ended === undefined ? "Unknown" : "Ended" })
  }
  if (job === undefined && !isOwnRun(row, caller)) return yield* new RunRefused({ run: row.id, why: "OfAnotherKey" })
  const recorder: RunRecorder = { number: Number(row.number), id: row.id, record: (changes) => record(row, changes) }
  return recorder
})

/** Entries of runs in an hour of an account. Beyond them what a run writes is summed by key and hour. */
const entriesPerHour = 100

const encodeDetails = Schema.encodeSync(Schema.fromJsonString(AuditDetails))

/**
 * Adds the entry of a run to the audit trail at its first change; a trigger lets it grow with the run. Says whether the run has one.
 */
const addEntry = Effect.fnUntraced(function* ({ command, id, number }: Opened, now: number) {
  const sql = yield* SqlClient.SqlClient
  const { peer } = yield* Caller
  const [entry] = yield* sql<{ readonly number: number }>`
    INSERT INTO audit_entries (time, account, actor, actor_name, actor_hint, peer, operation, subject, outcome, details,
      created, changed, deleted, gained, lost)
    SELECT CAST(${now} AS BIGINT), account, CASE WHEN key_id IS NULL THEN 'Owner' ELSE 'Key' END, coalesce(key_name, ''),
      coalesce((SELECT secret_hint FROM credentials WHERE credentials.id = key_id), ''), CAST(${peer ?? null} AS TEXT), 'run', CAST(${id} AS TEXT), 'Wrote',
      CAST(${encodeDetails({ command })} AS TEXT), created, changed, deleted, gained, lost
    FROM runs WHERE number = ${number} AND ${entriesPerHour} > (
      SELECT count(*) FROM audit_entries
      WHERE outcome = 'Wrote' AND subject IS NOT NULL AND audit_entries.account = runs.account AND time > ${now - 60 * 60})
    RETURNING number`
  if (entry === undefined) return false
  yield* sql`UPDATE runs SET audit = ${Number(entry.number)} WHERE number = ${number}`
  return true
})

const record = Effect.fnUntraced(function* (run: Opened, changes: ReadonlyArray<ChangeOfContact>) {
  if (changes.length === 0) return
  const { id, number } = run
  const sql = yield* SqlClient.SqlClient
  const texts = yield* eachInSlices(changes, (change) => JSON.stringify(change))
  const counts = { Created: 0, Changed: 0, Deleted: 0 }
  // One that only has another date of its status changed nothing else.
  let [gained, lost] = [0, 0]
  for (const { effect, fields } of changes) {
    if (effect !== "Changed" || Object.keys(fields).length > 0) counts[effect]++
    const { Status: status } = fields
    if (effect !== "Changed" || status === undefined) continue
    const mail = mailOf(status[0], status[1])
    gained += mail.gained
    lost += mail.lost
  }
  const rows = rowsOf(texts)
  const own = rows.reduce((sum, [, content]) => sum + Buffer.byteLength(content), 0)
  const [row] = yield* sql<
    Pick<RunRow, "changes" | "bytes"> & { readonly account: string; readonly audit: number | null }
  >`
    UPDATE runs SET changes = changes + ${texts.length}, bytes = bytes + ${own}, created = created + ${counts.Created},
      changed = changed + ${counts.Changed}, deleted = deleted + ${counts.Deleted},
      gained = gained + ${gained}, lost = lost + ${lost}
    WHERE number = ${number} RETURNING changes, bytes, account, audit`
  if (row === undefined) return yield* new RunRefused({ run: id, why: "Unknown" })
  yield* insertRows(number, Number(row.changes) - texts.length, rows)
  if (row.audit === null) {
    const now = yield* storeClock(sql).seconds
    if (!(yield* addEntry(run, now)) && run.key_id !== null) {
      const written = { created: counts.Created, changed: counts.Changed, deleted: counts.Deleted, gained, lost }
      yield* addToHour({ account: row.account, name: run.key_name ?? "", hint: "", time: now, written })
    }
  }
  const bytes = Number(row.bytes)
  if (Math.floor(bytes / lookedAtEvery) === Math.floor((bytes - own) / lookedAtEvery)) return
  const isWithin = yield* keepWithinBounds(row.account, yield* storeClock(sql).seconds)
  if (!isWithin) return yield* new RunRefused({ run: id, why: "TooLarge" })
})
