/**
 * Reads a store's file directly, independently of the service. Each read opens and closes its own connection, so none
 * of ours is open when a process is killed, and the next start has to recover the WAL by itself.
 */
import { assert } from "@effect/vitest"
import { type Duration, Effect, Schedule, Schema } from "effect"
import { readdirSync, readlinkSync } from "node:fs"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import type { ServePlace } from "./KillableServe.ts"

/** The row of a job. */
export const SeenJob = Schema.Struct({
  number: Schema.Int,
  kind: Schema.Literals(["Import", "Export"]),
  state: Schema.Literals(["Receiving", "Loading", "Ready", "Error", "Cancelled"]),
  rows_done: Schema.Int,
  accepted: Schema.Int,
  rejected: Schema.Int,
  duplicates: Schema.Int,
  problem: Schema.NullOr(Schema.String),
  lease: Schema.NullOr(Schema.String),
  leased_until: Schema.Int
})

export type SeenJob = typeof SeenJob.Type

/** The row of a contact. */
export const SeenContact = Schema.Struct({
  id: Schema.Int,
  email: Schema.String,
  status: Schema.String,
  first_name: Schema.NullOr(Schema.String),
  last_name: Schema.NullOr(Schema.String),
  custom_fields: Schema.String,
  source: Schema.String,
  date_updated: Schema.NullOr(Schema.Int)
})

export type SeenContact = typeof SeenContact.Type

/** The rows of a query, checked against a schema. */
export const rowsOf = <S extends Schema.ConstraintDecoder<unknown>>(
  { filename }: Pick<ServePlace, "filename">,
  row: S,
  query: string,
  ...values: ReadonlyArray<SQLInputValue>
): ReadonlyArray<S["Type"]> => {
  using database = new DatabaseSync(filename, { readOnly: true, timeout: 5000 })
  return Schema.decodeSync(Schema.Array(row))(database.prepare(query).all(...values))
}

const Count = Schema.Struct({ count: Schema.Int })

/** The number of rows of a table, optionally those that a condition selects. */
export const countOf = (place: ServePlace, from: string): number =>
  rowsOf(place, Count, `SELECT count(*) AS count FROM ${from}`)[0]?.count ?? 0

export const jobsIn = (place: ServePlace): ReadonlyArray<SeenJob> =>
  rowsOf(
    place,
    SeenJob,
    "SELECT number, kind, state, rows_done, accepted, rejected, duplicates, problem, lease, leased_until " +
      "FROM jobs ORDER BY number"
  )

export const contactsIn = (place: ServePlace): ReadonlyArray<SeenContact> =>
  rowsOf(
    place,
    SeenContact,
    "SELECT id, email, status, first_name, last_name, custom_fields, source, date_updated FROM contacts ORDER BY id"
  )

/** The result of SQLite's integrity check: `ok`, or what is wrong. */
export const integrityOf = (place: ServePlace): string =>
  [
    ...rowsOf(place, Schema.Struct({ integrity_check: Schema.String }), "PRAGMA integrity_check").map(
      (row) => row.integrity_check
    ),
    ...rowsOf(place, Schema.Struct({ table: Schema.String }), "PRAGMA foreign_key_check").map(
      (row) => `a reference of ${row.table} leads nowhere`
    )
  ].join("; ")

/** Changes the store from outside, as another process would. */
export const writeTo = ({ filename }: Pick<ServePlace, "filename">, statements: string): void => {
  using database = new DatabaseSync(filename, { timeout: 5000 })
  database.exec(statements)
}

/** Adds contacts `p1@example.com` and so on, who all have the same first name. */
export const fillContacts = (place: Pick<ServePlace, "filename">, count: number, firstName: string): void =>
  writeTo(
    place,
    `INSERT INTO contacts (account, identity, email, status, first_name, custom_fields, source, date_added)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     SELECT '', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active', '${firstName}', '{}', 'ContactApi', 1 FROM n`
  )

/** The other processes that have the file open, according to Linux. */
export const openedBy = ({ filename }: ServePlace): ReadonlyArray<string> =>
  readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === filename)
    } catch {
      // It has ended, or belongs to another user.
      return false
    }
  })

/** Repeats a read until the condition holds: at short intervals, since what is waited for can be over soon. */
export const seen = <A>(look: () => A, holds: (value: A) => boolean, pause: Duration.Input = "1 millis") =>
  Effect.sync(look).pipe(Effect.repeat({ schedule: Schedule.spaced(pause), until: holds }), Effect.timeout("2 minutes"))

/** Waits until a job (default: the first) has ended, and returns its final state. */
export const endOf = (place: ServePlace, index = 0) =>
  seen(
    () => jobsIn(place)[index]?.state,
    (state) => state !== undefined && state !== "Receiving" && state !== "Loading",
    // It stays as it is, and each look opens the store, which takes time from the job.
    "10 millis"
  )

/** Takes the write lock between two transactions of a busy writer, which whoever sleeps between tries finds taken. */
export const takeLock = (database: DatabaseSync): void => {
  const end = Date.now() + 20_000
  for (;;) {
    try {
      database.exec("BEGIN IMMEDIATE")
      return
    } catch (cause) {
      if (Date.now() > end) throw cause
    }
  }
}

/** Fails the test unless SQLite finds the file intact. */
export const assertWhole = (place: ServePlace, message?: string): void =>
  assert.strictEqual(integrityOf(place), "ok", message)
