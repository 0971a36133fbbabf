/**
 * The jobs of a store as its owner sees them: what they are, how they are cancelled, when they go.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  AccountService,
  allJobs,
  ContactFilter,
  ContactsService,
  EmailAddress,
  ImportSource,
  rejectedRowsFile,
  RuleText
} from "@roster/domain"
import { Caller } from "@roster/server"
import * as JobRunner from "@roster/server/JobRunner"
import { StorePolicy } from "@roster/server/StoreOptions"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { ShiftedClock } from "./ShiftedClock.ts"
import { cancel, ended, idle, importText, jobList, newest, working } from "./StoreWithJobs.ts"

describe("jobs of a store", () => {
  it.live("are listed with the newest first, with what they were asked for and how far they are", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const jobs = yield* AccountService
      yield* contacts.add([{ email: EmailAddress.make("ann@example.com") }], { listNames: ["News"] })
      yield* contacts.import(file(utf8("Email\nbob@example.com\n"), "p\u001b.csv"), { listName: "News" })
      yield* contacts
        .import(ImportSource.Address({ url: "https://user:pass@files.example.com/c.csv?signature=secret" }))
        .pipe(Effect.ignore)
      yield* contacts.import(ImportSource.Address({ url: "https://files.example.com/c.csv?signature=secret" }))
      const { id } = yield* contacts.export({
        filter: ContactFilter.ByRule({ rule: RuleText.make("status = Active") }),
        fileFormat: "Json",
        compressionFormat: "Zip",
        fileName: "mine.json"
      })
      const listed = yield* jobList
      assert.deepStrictEqual(
        listed.map(({ kind, running, state }) => [kind, state, running]),
        [
          ["Export", "Loading", false],
          ["Import", "Loading", false],
          ["Import", "Loading", false]
        ]
      )
      assert.deepStrictEqual<unknown>(
        listed.map(({ request }) => request),
        [
          { fileName: "mine.json.zip", format: "Json", compression: "Zip", rule: "status = Active" },
          { fileUrl: "https://files.example.com/c.csv" },
          { fileName: "p\u001b.csv", listName: "News" }
        ]
      )
      assert.deepStrictEqual(yield* jobs.job(id.toUpperCase()), listed[0])
      assert.deepStrictEqual(yield* Stream.runCollect(allJobs({ limit: 2 })), listed.slice(0, 2))
      assert.strictEqual((yield* Effect.flip(jobs.job("nobody"))).message.split(".")[0], "There is no job nobody")
    }).pipe(Effect.provide(idle))
  )

  it.live("are those of one's own account", () =>
    Effect.gen(function* () {
      const jobs = yield* AccountService
      yield* importText("Email\n").pipe(Effect.provideService(Caller, { account: "team@example.com" }))
      assert.deepStrictEqual(yield* jobList, [])
      const [job] = yield* Effect.provideService(jobList, Caller, { account: "team@example.com" })
      const id = job?.id ?? ""
      assert.strictEqual((yield* Effect.flip(jobs.cancelJob(id)))._tag, "JobNotFound")
      for (const look of [jobs.job(id), Stream.runDrain(rejectedRowsFile(id))]) {
        assert.strictEqual((yield* Effect.flip(look))._tag, "JobNotFound")
      }
    }).pipe(Effect.provide(idle))
  )

  it.live("are never shown as running for ever", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* ShiftedClock
      yield* importText("Email\n")
      yield* sql`UPDATE jobs SET lease = 'x 1 elsewhere', leased_until = ${Math.floor(Date.now() / 1000) + 30}`
      assert.isTrue((yield* newest).running)
      yield* clock.advance("31 seconds")
      assert.deepInclude(yield* newest, { running: false, state: "Loading", ended: null })
    }).pipe(Effect.provide(idle))
  )

  it.live(
    "lose a file of more than 64 MiB in batches when they are cancelled, and its room counts until it is gone",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* importText("Email\n")
        const { id } = yield* newest
        const parts = 600
        // A batch has 256 parts, however short they are.
        yield* sql`
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${parts})
        INSERT INTO job_parts (job, part, content) SELECT number, i, x'00' FROM n, jobs`
        yield* sql`UPDATE jobs SET bytes = ${parts * 256 * 1024}`
        const left = sql<{ readonly parts: number; readonly bytes: number }>`
        SELECT (SELECT count(*) FROM job_parts) AS parts, bytes FROM jobs`
        const [before] = yield* left
        yield* cancel(id)
        assert.deepStrictEqual(yield* left, [{ parts: (before?.parts ?? 0) - 256, bytes: parts * 256 * 1024 }])
        const policy = Layer.succeed(StorePolicy, { allowedSenders: [], allowFileUrl: [] })
        yield* Layer.build(Layer.provide(JobRunner.layer(), policy))
        yield* eventually(left, ([now]) => now?.parts === 0 && now.bytes === 0)
      }).pipe(Effect.scoped, Effect.provide(idle))
  )

  it.live("that wait are cancelled, once", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const sql = yield* SqlClient.SqlClient
      yield* importText("Email\nann@example.com\n")
      const { id } = yield* newest
      const cancelled = yield* cancel(id)
      assert.deepInclude(cancelled, { id, state: "Cancelled", running: false, rowsDone: 0 })
      assert.isNotNull(cancelled.ended)
      assert.deepStrictEqual(yield* sql`SELECT * FROM job_parts`, [])
      const again = yield* Effect.flip(cancel(id))
      assert.deepInclude(again, { _tag: "JobEnded", id, state: "Cancelled" })

      const asked = yield* contacts.export()
      yield* cancel(asked.id)
      assert.strictEqual(yield* contacts.exportStatus(asked.id), "Error")
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(contacts.download(asked.link))))._tag, "ExportNotFound")
    }).pipe(Effect.provide(idle))
  )

  it.live("that are ready exports are ended, and their links with them", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const { id, link } = yield* contacts.export()
      yield* eventually(contacts.exportStatus(id), (status) => status === "Ready")
      yield* Stream.runDrain(contacts.download(link))
      assert.strictEqual((yield* cancel(id)).state, "Cancelled")
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(contacts.download(link))))._tag, "ExportNotFound")
      assert.strictEqual((yield* Effect.flip(cancel(id)))._tag, "JobEnded")
    }).pipe(Effect.provide(working))
  )

  it.live("can be cancelled while they receive their file, and the sender gets an error", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const sql = yield* SqlClient.SqlClient
      const rest = yield* Deferred.make<Uint8Array>()
      const content = Stream.concat(
        Stream.make(utf8(`Email\n${"ann@example.com\n".repeat(20_000)}`)),
        Stream.fromEffect(Deferred.await(rest))
      )
      const sending = yield* Effect.forkChild(contacts.import(ImportSource.File({ name: "slow.csv", content })))
      const receiving = yield* eventually(jobList, ([job]) => job !== undefined)
      assert.deepInclude(receiving[0], { state: "Receiving", running: true })
      yield* cancel(receiving[0]?.id ?? "")
      yield* Deferred.succeed(rest, utf8("bob@example.com\n"))
      const told = yield* Effect.flip(Fiber.join(sending))
      assert.strictEqual(told._tag, "ImportRefused")
      assert.strictEqual((yield* newest).state, "Cancelled")
      assert.deepStrictEqual(yield* sql`SELECT * FROM job_parts`, [])
    }).pipe(Effect.provide(idle))
  )

  it.live("that receive their file end within one step after they were cancelled, while it is still being sent", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const sql = yield* SqlClient.SqlClient
      const head = yield* Deferred.make<void>()
      // Larger than one step, and without an end.
      const chunk = utf8("ann@example.com\n".repeat(100_000))
      const content = Stream.concat(
        Stream.make(utf8("Email\n")),
        Stream.concat(Stream.drain(Stream.fromEffect(Deferred.await(head))), Stream.forever(Stream.make(chunk)))
      )
      const sending = yield* Effect.forkChild(contacts.import(ImportSource.File({ name: "endless.csv", content })))
      const receiving = yield* eventually(jobList, ([job]) => job !== undefined)
      yield* cancel(receiving[0]?.id ?? "")
      yield* Deferred.succeed(head, undefined)
      assert.strictEqual((yield* Effect.flip(Fiber.join(sending)))._tag, "ImportRefused")
      assert.deepStrictEqual(yield* sql`SELECT * FROM job_parts`, [])
    }).pipe(Effect.provide(idle))
  )

  it.live("that are worked on stop at the next step, and what they wrote stays", () =>
    Effect.gen(function* () {
      const jobs = yield* AccountService
      const sql = yield* SqlClient.SqlClient
      const rows = 150_000
      yield* importText(`Email\n${Array.from({ length: rows }, (_, row) => `p${row}@example.com`).join("\n")}\n`)
      const { id } = yield* eventually(newest, ({ rowsDone }) => rowsDone > 0)
      const cancelled = yield* cancel(id)
      assert.strictEqual(cancelled.state, "Cancelled")
      assert.isBelow(cancelled.rowsDone, rows)
      // The next job is taken up by the same worker: it has let go of this one.
      yield* importText("Email\nlast@example.com\n")
      assert.deepInclude(yield* ended, { state: "Ready", accepted: 1 })
      assert.deepStrictEqual(yield* jobs.job(id), cancelled)
      const [counted] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM contacts`
      assert.strictEqual(counted?.count, cancelled.accepted + 1)
      assert.deepStrictEqual(yield* sql`SELECT * FROM job_parts`, [])
    }).pipe(Effect.provide(working))
  )

  it.live("go 30 days after their end, and the rows that they rejected with them", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const clock = yield* ShiftedClock
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* contacts.export()
      yield* ended
      yield* contacts.add([{ email: EmailAddress.make("gone@example.com"), status: "Abuse" }])
      yield* importText("Email,Status\nnobody,\ngone@example.com,Active\n")
      yield* ended
      assert.strictEqual((yield* sql`SELECT * FROM job_kept_statuses`).length, 1)
      yield* clock.advance("25 hours")
      assert.deepStrictEqual(
        (yield* jobList).map(({ kind, state }) => [kind, state]),
        [
          ["Import", "Ready"],
          ["Export", "Expired"]
        ]
      )
      yield* clock.advance("28 days")
      assert.strictEqual((yield* jobList).length, 2)
      yield* clock.advance("1 day")
      yield* eventually(jobList, (jobs) => jobs.length === 0)
      assert.deepStrictEqual(yield* sql`SELECT * FROM job_rejections`, [])
      assert.deepStrictEqual(yield* sql`SELECT * FROM job_kept_statuses`, [])
      assert.strictEqual((yield* Effect.flip(contacts.exportStatus(id)))._tag, "ExportNotFound")
    }).pipe(Effect.provide(working))
  )

  it.live("go before that where an account has more than 10,000", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const sql = yield* SqlClient.SqlClient
      const now = Math.floor(Date.now() / 1000)
      yield* sql`
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO jobs (id, account, kind, state, request, created, ended, expires)
        SELECT 'earlier' || i, '', 'Import', 'Ready', '{}', ${now}, ${now}, ${now + 9999} FROM n`
      yield* contacts.export()
      yield* ended
      const numbers = sql<{ readonly jobs: number; readonly first: string }>`
        SELECT count(*) AS jobs, min(CASE WHEN id IN ('earlier1', 'earlier2') THEN id END) AS first FROM jobs`
      const [left] = yield* eventually(numbers, ([row]) => row?.jobs === 10_000)
      assert.strictEqual(left?.first, "earlier2")
    }).pipe(Effect.provide(working))
  )
})
