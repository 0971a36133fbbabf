/**
 * Imports and exports on a thread of their own: what they do is what they do elsewhere; this is about the thread.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { AccountService, ContactsService, EmailAddress, ImportSource } from "@roster/domain"
import { Caller, SqlServices } from "@roster/server"
import { Effect, FileSystem, Layer, Logger, Path, Schedule } from "effect"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { longRun } from "../../src/simulation/LongRun.ts"
import { jobThread } from "../Threads.ts"
import { cancel, importText, newest } from "./StoreWithJobs.ts"

const sources = new URL("../../../server/src/", import.meta.url)

const folder = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  return yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-thread-" })
})

const services = (
  filename: string,
  jobThread: URL,
  log: Layer.Layer<never> = Layer.empty,
  allowFileUrl: ReadonlyArray<string> = []
) => SqlServices.layerWithStore({ filename, jobThread, allowFileUrl }).pipe(Layer.provideMerge(log))

/** The rows of a query, read beside the service. */
const look = (filename: string, query: string) => {
  using store = new DatabaseSync(filename, { readOnly: true, timeout: 5000 })
  return store.prepare(query).all()
}

const importUrl = (url: string) =>
  Effect.flatMap(ContactsService, (contacts) => contacts.import(ImportSource.Address({ url })))

const fileOf = (rows: number, city = "Oslo") =>
  `Email,city\n${Array.from({ length: rows }, (_, row) => `p${row}@example.com,${city}\n`).join("")}`

/** So long that some 2000 rows are a transaction, which ends after 4 MiB of its file. */
const longCity = "Oslo".repeat(500)

const withLog = () => {
  const entries: Array<string> = []
  const logger = Logger.make(({ cause, message }) => {
    entries.push([message, ...cause.reasons.map(String)].flat().map(String).join(" "))
  })
  return { entries, layer: Logger.layer([logger]) }
}

describe("the thread of jobs", () => {
  it.live(
    "is joined at the end, in the midst of an import too, which the next one goes on with at once",
    () =>
      Effect.gen(function* () {
        const path = yield* Path.Path
        const filename = path.join(yield* folder, "roster.db")
        const rows = 7_000
        yield* importText(fileOf(rows, longCity)).pipe(
          Effect.andThen(eventually(newest, ({ rowsDone }) => rowsDone > 0)),
          Effect.provide(services(filename, jobThread))
        )
        const store = new DatabaseSync(filename)
        const left = store.prepare("SELECT state, leased_until, rows_done, attempts FROM jobs").get()
        const contacts = store.prepare("SELECT count(*) AS contacts FROM contacts").get()?.["contacts"]
        store.close()
        // Nobody has to wait for the end of its lease.
        assert.deepInclude(left, { state: "Loading", leased_until: 0, attempts: 0 })
        assert.strictEqual(contacts, left?.["rows_done"])
        const job = yield* eventually(newest, ({ ended }) => ended !== null).pipe(
          Effect.provide(services(filename, jobThread))
        )
        assert.deepInclude(job, { state: "Ready", accepted: rows, duplicates: 0, rowsDone: rows })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "is followed by another one where it ends by itself, and the log says why",
    () =>
      Effect.gen(function* () {
        const path = yield* Path.Path
        const fileSystem = yield* FileSystem.FileSystem
        const place = yield* folder
        const entry = path.join(place, "entry.mjs")
        const marker = path.join(place, "marker")
        yield* fileSystem.writeFileString(
          entry,
          `import { existsSync, writeFileSync } from "node:fs"
        if (existsSync(${JSON.stringify(marker)})) await import(${JSON.stringify(jobThread.href)})
        else { writeFileSync(${JSON.stringify(marker)}, ""); throw Object.assign(new Error("no more of this"), { code: "ERR_NO_MORE" }) }`
        )
        const log = withLog()
        const job = yield* importText(fileOf(10)).pipe(
          Effect.andThen(eventually(newest, ({ ended }) => ended !== null)),
          Effect.provide(services(path.join(place, "roster.db"), pathToFileURL(entry), log.layer))
        )
        assert.deepInclude(job, { state: "Ready", accepted: 10 })
        assert.match(log.entries.join("\n"), /the thread of the jobs ended[^]*ERR_NO_MORE/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live("ends when it has had no job for some time, and another one follows for the next job", () =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const fileSystem = yield* FileSystem.FileSystem
      const place = yield* folder
      const entry = path.join(place, "entry.mjs")
      const marker = path.join(place, "marker")
      yield* fileSystem.writeFileString(marker, "")
      yield* fileSystem.writeFileString(
        entry,
        `import { appendFileSync } from "node:fs"
         const mark = (text) => appendFileSync(${JSON.stringify(marker)}, text)
         mark("began ")
         process.on("exit", () => mark("ended "))
         await import(${JSON.stringify(jobThread.href)})`
      )
      const marks = fileSystem.readFileString(marker)
      yield* Effect.gen(function* () {
        yield* importText(fileOf(10))
        assert.strictEqual(yield* eventually(marks, (text) => text.includes("ended")), "began ended ")
        yield* importText(fileOf(20))
        yield* eventually(newest, ({ accepted, state }) => accepted === 20 && state === "Ready")
        assert.strictEqual(yield* marks, "began ended began ")
      }).pipe(Effect.provide(services(path.join(place, "roster.db"), pathToFileURL(entry))))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  const dies = (deaths: number, state: "Ready" | "Error") =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const fileSystem = yield* FileSystem.FileSystem
      const place = yield* folder
      const filename = path.join(place, "roster.db")
      const marker = path.join(place, "deaths")
      const entry = path.join(place, "entry.mjs")
      const modules = {
        effect: pathToFileURL(createRequire(import.meta.url).resolve("effect")).href,
        queue: new URL("jobs/queue/JobQueue.ts", sources).href,
        client: new URL("store/sqlite/SqliteClient.ts", sources).href
      }
      yield* fileSystem.writeFileString(marker, "")
      yield* fileSystem.writeFileString(
        entry,
        `import { appendFileSync, readFileSync } from "node:fs"
           import { workerData } from "node:worker_threads"
           const marker = ${JSON.stringify(marker)}
           if (readFileSync(marker, "utf8").length >= ${deaths}) await import(${JSON.stringify(jobThread.href)})
           else {
             const { Effect } = await import(${JSON.stringify(modules.effect)})
             const { claimJob } = await import(${JSON.stringify(modules.queue)})
             const { layer } = await import(${JSON.stringify(modules.client)})
             const claimed = claimJob(workerData.lease).pipe(
               Effect.delay("5 millis"),
               Effect.repeat({ until: (job) => job !== undefined })
             )
             await Effect.runPromise(Effect.provide(claimed, layer({ filename: workerData.store.filename })))
             appendFileSync(marker, "x")
             throw Object.assign(new Error("it died of the job"), { code: "ERR_DEATH" })
           }`
      )
      const log = withLog()
      yield* Effect.gen(function* () {
        yield* importText(fileOf(10))
        const job = yield* eventually(newest, ({ ended }) => ended !== null)
        assert.strictEqual(job.state, state)
        assert.strictEqual(yield* fileSystem.readFileString(marker), "x".repeat(deaths))
        if (state === "Error") assert.match(job.problem ?? "", /taken up 3 times/)
        yield* importText(fileOf(10))
        yield* eventually(newest, ({ id, state }) => id !== job.id && state === "Ready")
        assert.deepStrictEqual(look(filename, "SELECT * FROM job_parts"), [])
      }).pipe(Effect.provide(services(filename, pathToFileURL(entry), log.layer)))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

  it.live(
    "that dies 3 times of a job before it gets anywhere leaves it Error, and the next job runs",
    () => dies(3, "Error"),
    60_000
  )

  it.live.skipIf(!longRun)(
    "that dies 2 times of a job before it gets anywhere leaves it Ready, and the next job runs (nightly)",
    () => dies(2, "Ready"),
    60_000
  )

  it.live(
    "lets go of a job that is cancelled while its file is fetched, and a stop of the service counts no attempt",
    () =>
      Effect.gen(function* () {
        const filename = (yield* Path.Path).join(yield* folder, "roster.db")
        // It begins its answers and never ends them.
        const open = new Set<ServerResponse>()
        const server = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const server = createServer((_, response) => {
              open.add(response)
              response.on("close", () => open.delete(response))
              response.writeHead(200, { "Content-Type": "text/csv" }).write("Email\n")
            }).listen(0, "127.0.0.1")
            await once(server, "listening")
            return server
          }),
          (server) => Effect.sync(() => server.close())
        )
        // A server that listens on TCP has an address of this kind.
        const { port } = server.address() as AddressInfo
        const fetched = importUrl(`http://127.0.0.1:${port}/slow.csv`)
        const requests = (count: number) =>
          eventually(
            Effect.sync(() => open.size),
            (size) => size === count
          )
        yield* Effect.gen(function* () {
          // As many as there are places for jobs, one after another.
          for (let turn = 0; turn < 2; turn++) {
            yield* fetched
            yield* requests(1)
            yield* cancel((yield* newest).id)
            yield* requests(0)
          }
          yield* importText(fileOf(10))
          yield* eventually(newest, ({ state }) => state === "Ready")
          assert.deepStrictEqual(look(filename, "SELECT * FROM job_parts"), [])
          yield* fetched
          yield* requests(1)
          // Another account does not wait for it.
          const others = Effect.andThen(
            importText(fileOf(10)),
            eventually(newest, ({ state }) => state === "Ready")
          )
          yield* Effect.provideService(others, Caller, { account: "team@example.com" })
          assert.strictEqual((yield* newest).state, "Loading")
        }).pipe(Effect.provide(services(filename, jobThread, Layer.empty, ["127.0.0.1"])))
        const [left] = look(filename, "SELECT state, lease, leased_until, attempts FROM jobs WHERE state = 'Loading'")
        assert.deepInclude(left, { state: "Loading", lease: null, leased_until: 0, attempts: 0 })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live.each([
    { while: "an import writes its rows", kind: "Import", from: "jobs WHERE rows_done > 0" },
    { while: "an export reads contacts", kind: "Export", from: "jobs WHERE rows_done > 0" },
    { while: "an export stores its file", kind: "Export", from: "job_parts WHERE part > 7" }
  ])(
    "lets go of a job that is cancelled while $while, and leaves no part of its file",
    ({ from, kind }) =>
      Effect.gen(function* () {
        const filename = (yield* Path.Path).join(yield* folder, "roster.db")
        yield* Effect.gen(function* () {
          const jobs = yield* AccountService
          const contacts = yield* ContactsService
          // An import of more than a transaction, and an export of many parts.
          const rows = 8000
          if (kind === "Import") yield* importText(fileOf(rows, longCity))
          else {
            using store = new DatabaseSync(filename, { timeout: 5000 })
            store.exec(
              `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
               INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
               SELECT '', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active',
                 json_object('note', hex(zeroblob(1000))), 'ContactApi', 1700000000 FROM n`
            )
            yield* contacts.export()
          }
          yield* Effect.sync(() => look(filename, `SELECT 1 FROM ${from} LIMIT 1`)).pipe(
            Effect.repeat({ schedule: Schedule.spaced("1 millis"), until: ({ length }) => length > 0 }),
            Effect.timeout("2 minutes")
          )
          const cancelled = yield* cancel((yield* newest).id)
          assert.strictEqual(cancelled.state, "Cancelled")
          assert.isBelow(cancelled.accepted, rows)
          yield* importText("Email\nlast@example.com\n")
          yield* eventually(newest, ({ state }) => state === "Ready")
          assert.deepStrictEqual(yield* jobs.job(cancelled.id), cancelled)
          assert.deepStrictEqual(look(filename, "SELECT * FROM job_parts"), [])
          assert.deepStrictEqual(look(filename, "SELECT id FROM jobs WHERE bytes > 0"), [])
          const [counted] = look(filename, "SELECT count(*) AS contacts FROM contacts")
          assert.strictEqual(counted?.["contacts"], (kind === "Import" ? cancelled.accepted : rows) + 1)
        }).pipe(Effect.provide(services(filename, jobThread)))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "is tried again where it cannot be started, and the log says why",
    () =>
      Effect.gen(function* () {
        const path = yield* Path.Path
        const log = withLog()
        const tries = eventually(
          Effect.sync(() => log.entries.filter((entry) => entry.includes("could not be started"))),
          (entries) => entries.length > 1
        )
        // Node starts threads with files alone.
        const entry = new URL("https://example.com/entry.mjs")
        const entries = yield* Effect.andThen(importText(fileOf(1)), tries).pipe(
          Effect.provide(services(path.join(yield* folder, "roster.db"), entry, log.layer))
        )
        assert.match(entries.join("\n"), /must be of scheme file/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "has its log written by the program",
    () =>
      Effect.gen(function* () {
        const path = yield* Path.Path
        const filename = path.join(yield* folder, "roster.db")
        const log = withLog()
        yield* importText(fileOf(1)).pipe(
          Effect.andThen(eventually(newest, ({ ended }) => ended !== null)),
          Effect.andThen(
            Effect.sync(() => {
              // A job that nobody can read.
              const store = new DatabaseSync(filename, { timeout: 5000 })
              store.exec("UPDATE jobs SET state = 'Loading', request = 'nothing'")
              store.close()
            })
          ),
          Effect.andThen(eventually(newest, ({ state }) => state === "Error")),
          Effect.andThen(
            eventually(
              Effect.sync(() => log.entries),
              (entries) => entries.length > 0
            )
          ),
          Effect.provide(services(filename, jobThread, log.layer))
        )
        assert.match(log.entries.join("\n"), /job [0-9a-f-]{36} failed/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "writes while requests write, and none of them waits for its end",
    () =>
      Effect.gen(function* () {
        const path = yield* Path.Path
        const filename = path.join(yield* folder, "roster.db")
        const rows = 6000
        yield* Effect.gen(function* () {
          const contacts = yield* ContactsService
          yield* importText(fileOf(rows))
          let added = 0
          while ((yield* newest).ended === null) {
            yield* contacts.add([{ email: EmailAddress.make(`own${added++}@example.com`) }])
          }
          assert.isAbove(added, 3)
          assert.deepInclude(yield* newest, { state: "Ready", accepted: rows, duplicates: 0 })
          const store = new DatabaseSync(filename, { readOnly: true })
          const found = store.prepare("SELECT count(*) AS contacts FROM contacts").get()
          store.close()
          assert.strictEqual(found?.["contacts"], rows + added)
        }).pipe(Effect.provide(services(filename, jobThread)))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )
})
