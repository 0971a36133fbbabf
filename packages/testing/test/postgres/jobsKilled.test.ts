/**
 * S56 and S58 of two processes on one PostgreSQL the one that works on a job is killed: the other one ends it, exactly. And
 * the database goes away from a job and comes back. A call of changes that is killed likewise leaves nothing.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { maximumChanges } from "@roster/domain"
import { Effect, Exit, Fiber, Layer, type Redacted, Schedule, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { assertImported, importFile, SeenRejection } from "../durability/ImportedFile.ts"
import { askServe, download, killableServe, type KillableServe, servePlace } from "../durability/KillableServe.ts"
import { amount, longRun } from "../../src/simulation/LongRun.ts"
import { SeenContact, SeenJob } from "../durability/StoreLook.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import {
  describePostgres,
  freshDatabase,
  restartPostgres,
  startOwnPostgres,
  whilePostgresStopped
} from "./TestPostgres.ts"
import { platform } from "node:os"

startOwnPostgres()

const importedRows = amount({ ci: 7_000, long: 300_000 })

/** Several transactions on a machine of any speed, since each ends after 4 MiB of the file. */
const noteLength = amount({ ci: 2000, long: 0 })

/** Of 400 bytes each: more parts than one transaction stores. */
const exportedRows = amount({ ci: 8000, long: 300_000 })

/** Two processes on a new database, and a connection beside them. */
const twoProcesses = Effect.gen(function* () {
  const database = yield* freshDatabase
  const place = yield* servePlace
  const first = yield* killableServe(place, { database })
  const second = yield* killableServe(place, { database })
  return { database, processes: [first, second] as const, sql: yield* PostgresClient.make({ url: database }) }
})

const rowsOf = <S extends Schema.ConstraintDecoder<unknown>>(sql: SqlClient.SqlClient, row: S, query: string) =>
  Effect.flatMap(sql.unsafe(query), (rows) => Schema.decodeEffect(Schema.Array(row))(rows))

const jobsIn = (sql: SqlClient.SqlClient) => rowsOf(sql, SeenJob, "SELECT * FROM jobs ORDER BY number")

const endOf = (sql: SqlClient.SqlClient, index = 0) =>
  jobsIn(sql).pipe(
    Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (jobs) => jobs[index]?.state !== "Loading" })
  )

const countOf = (sql: SqlClient.SqlClient, from: string) =>
  Effect.map(
    sql.unsafe<{ readonly count: number }>(`SELECT count(*) AS count FROM ${from}`),
    ([row]) => row?.count ?? 0
  )

const stopLock = 18

/** Lets a job wait where a statement of it meets a condition, until the effect that comes with it has run. */
const stopped = Effect.fnUntraced(function* (url: Redacted.Redacted<string>, event: string, condition: string) {
  const sql = yield* PostgresClient.make({ url, maxConnections: 1 })
  yield* sql.unsafe(`
    CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock(${stopLock}); RETURN NEW; END'`)
  yield* sql.unsafe(`CREATE TRIGGER stop ${event} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION stop()`)
  yield* sql.unsafe(`SELECT pg_advisory_lock(${stopLock})`)
  const waiting = sql`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
  return {
    /** Waits until a job has come so far. */
    reached: eventually(waiting, (rows) => rows.length > 0),
    goOn: sql.unsafe(`SELECT pg_advisory_unlock(${stopLock})`)
  }
})

/** The number of the process, which its start follows. */
const pidOf = (lease: string | null | undefined): number => Number.parseInt(lease?.split(" ")[1] ?? "")

/** Kills the process that works on the first job. */
const killWorker = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  [first, second]: readonly [KillableServe, KillableServe]
) {
  const [job] = yield* jobsIn(sql)
  const worker = pidOf(job?.lease)
  const [dying, living] = worker === first.pid ? [first, second] : [second, first]
  assert.strictEqual(dying.pid, worker)
  dying.killNow()
  yield* dying.ended
  assert.strictEqual((yield* jobsIn(sql))[0]?.state, "Loading")
  return living
})

const upload = Effect.fnUntraced(function* (serve: KillableServe, text: string) {
  const form = new FormData()
  form.append("file", new Blob([text], { type: "text/csv" }), "people.csv")
  const answer = yield* askServe(serve, "POST", "/contacts/import", form)
  assert.strictEqual(answer.status, 202, answer.text)
})

/** At the second step of an import. */
const atSecondStep = ["BEFORE UPDATE ON jobs", "old.rows_done > 0 AND new.rows_done > old.rows_done"] as const

const assertExact = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, file: ReturnType<typeof importFile>) {
  const [jobs, contacts, rejections, parts] = yield* Effect.all([
    jobsIn(sql),
    rowsOf(sql, SeenContact, "SELECT * FROM contacts ORDER BY id"),
    rowsOf(sql, SeenRejection, "SELECT line, reason FROM job_rejections ORDER BY line"),
    countOf(sql, "job_parts")
  ])
  assertImported(file, { jobs, contacts, rejections, parts })
})

const Link = Schema.fromJsonString(Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String }))

const askForExport = Effect.fnUntraced(function* (serve: KillableServe) {
  const answer = yield* askServe(serve, "POST", "/contacts/export?fileFormat=Csv")
  assert.strictEqual(answer.status, 202, answer.text)
  return yield* Schema.decodeEffect(Link)(answer.text)
})

const services = Layer.mergeAll(NodeServices.layer, Reactivity.layer)

describePostgres("S.5 a job on PostgreSQL", () => {
  it.live(
    "S56 an import whose process is killed in its midst is ended by the other one, and counts every row once",
    () =>
      Effect.gen(function* () {
        const { database, processes, sql } = yield* twoProcesses
        const file = importFile(importedRows, noteLength)
        const stop = yield* stopped(database, ...atSecondStep)
        yield* upload(processes[0], file.text)
        yield* stop.reached
        const living = yield* killWorker(sql, processes)
        yield* stop.goOn
        yield* endOf(sql)
        assert.strictEqual(pidOf((yield* jobsIn(sql))[0]?.lease), living.pid)
        yield* assertExact(sql, file)
        yield* living.stop
      }).pipe(Effect.scoped, Effect.provide(services)),
    amount({ ci: 120_000, long: 600_000 })
  )

  it.live.skipIf(!longRun)(
    "a call of a thousand changes whose process is killed in its midst does none of them, and the same call all (nightly)",
    () =>
      Effect.gen(function* () {
        const { database, processes, sql } = yield* twoProcesses
        const [dying, living] = processes
        const emails = Array.from({ length: maximumChanges }, (_, index) => `p${index}@example.com`)
        yield* askServe(
          dying,
          "POST",
          "/contacts",
          emails.map((Email) => ({ Email, FirstName: "Before" }))
        )
        const changes = emails.map((Email) => ({
          Email,
          Seen: { Status: "Active", FirstName: "Before" },
          Write: { FirstName: "After", AddToLists: ["New"] }
        }))
        const named = (name: string) => countOf(sql, `contacts WHERE first_name = '${name}'`)
        const stop = yield* stopped(database, "BEFORE INSERT ON list_members", "true")
        const call = yield* Effect.forkChild(Effect.exit(askServe(dying, "POST", "/contacts/changes", changes)))
        yield* stop.reached
        dying.killNow()
        yield* dying.ended
        assert.isTrue(Exit.isFailure(yield* Fiber.join(call)))
        yield* stop.goOn
        assert.deepStrictEqual([yield* named("Before"), yield* named("After")], [maximumChanges, 0])
        const again = yield* askServe(living, "POST", "/contacts/changes", changes)
        assert.deepStrictEqual(
          JSON.parse(again.text),
          changes.map(() => ({ Result: "Done" }))
        )
        assert.deepStrictEqual(
          [yield* named("After"), yield* countOf(sql, "list_members")],
          [maximumChanges, maximumChanges]
        )
        yield* living.stop
      }).pipe(Effect.scoped, Effect.provide(services)),
    120_000
  )

  it.live.skipIf(!longRun)(
    "S58 an export whose process is killed in its midst is ended by the other one with the file of a calm one (nightly)",
    () =>
      Effect.gen(function* () {
        const { database, processes, sql } = yield* twoProcesses
        yield* sql.unsafe(`
          INSERT INTO contacts (account, identity, email, status, first_name, custom_fields, source, date_added)
          SELECT (SELECT account FROM credentials LIMIT 1), 'p' || i || '@example.com', 'p' || i || '@example.com',
            'Active', 'First ' || i, '{"note":"' || repeat('x', 400) || i || '"}', 'ContactApi', 1700000000
          FROM generate_series(1, ${exportedRows}) AS numbers (i)`)
        // In the second transaction that stores parts of the file.
        const stop = yield* stopped(database, "BEFORE INSERT ON job_parts", "new.part = 9")
        const { Link: link } = yield* askForExport(processes[0])
        yield* stop.reached
        assert.isAbove(yield* countOf(sql, "job_parts"), 0)
        const living = yield* killWorker(sql, processes)
        // Fewer than before: what is left of the first try would show behind them.
        yield* sql`DELETE FROM contacts WHERE id % 3 = 0`
        yield* stop.goOn
        yield* endOf(sql)
        const calm = yield* askForExport(living)
        yield* endOf(sql, 1)
        const [first, second] = yield* jobsIn(sql)
        assert.deepStrictEqual([first?.state, second?.state], ["Ready", "Ready"])
        assert.strictEqual(pidOf(first?.lease), living.pid)
        const { origin } = new URL(living.baseUrl)
        const [one, other] = yield* Effect.forEach([link, calm.Link], (link) =>
          Effect.map(download(`${origin}${new URL(link).pathname}`), (bytes) => new TextDecoder().decode(bytes))
        )
        assert.isTrue(one === other)
        const contacts = yield* countOf(sql, "contacts")
        assert.strictEqual(one?.trimEnd().split("\n").length, contacts + 1)
        assert.isBelow(contacts, exportedRows)
        yield* living.stop
      }).pipe(Effect.scoped, Effect.provide(services)),
    amount({ ci: 120_000, long: 600_000 })
  )

  it.live.skipIf(restartPostgres === undefined)(
    "S72 an import from which its database goes away goes on when it is back, and counts every row once",
    () =>
      Effect.gen(function* () {
        if (restartPostgres === undefined) return
        const { database, processes, sql } = yield* twoProcesses
        const file = importFile(importedRows, noteLength)
        const stop = yield* stopped(database, ...atSecondStep)
        yield* upload(processes[0], file.text)
        yield* stop.reached
        const [before] = yield* jobsIn(sql)
        yield* restartPostgres(true)
        yield* eventually(jobsIn(sql), ([job]) => job?.leased_until !== before?.leased_until)
        assert.isBelow(Date.now() / 1000, before?.leased_until ?? 0, "the lease of the interrupted worker kept the job")
        yield* endOf(sql)
        yield* assertExact(sql, file)
        for (const serve of processes) yield* serve.stop
      }).pipe(Effect.scoped, Effect.provide(services)),
    amount({ ci: 120_000, long: 600_000 })
  )

  it.live.skipIf(restartPostgres === undefined || platform() !== "linux")(
    "a PostgreSQL whose processes are stopped keeps no statement waiting, and is used again when they go on (Linux)",
    () =>
      Effect.gen(function* () {
        const sql = yield* PostgresClient.make({
          url: yield* freshDatabase,
          statementMillis: 500,
          acquireTimeout: "1 second"
        })
        yield* sql`CREATE TABLE written (number INTEGER)`
        const write = sql`INSERT INTO written VALUES (1)`
        const [within, after] = yield* whilePostgresStopped(
          Effect.all([Effect.flip(sql.withTransaction(write)), Effect.flip(sql`SELECT 1`)])
        )
        for (const { reason } of [within, after]) assert.include(String(reason.cause), "did not answer in time")
        yield* sql.withTransaction(write)
        assert.deepStrictEqual(yield* sql`SELECT count(*) AS count FROM written`, [{ count: 1 }])
      }).pipe(Effect.scoped, Effect.provide(services))
  )
})
