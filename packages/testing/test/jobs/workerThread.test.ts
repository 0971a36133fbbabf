/**
 * Imports and exports on a thread of their own: what they do is what they do elsewhere; this is about the thread.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { Jobs, SqlServices } from "@roster/server"
import { defaultEntry } from "@roster/server/WorkerThread"
import { Effect, FileSystem, Layer, Logger, Path } from "effect"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { eventually } from "../../src/conformance/Eventually.ts"
import { importText, newest } from "./StoreWithJobs.ts"

const ownEntry = defaultEntry() ?? assert.fail("there is no file for a thread to begin with")

const folder = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  return yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-thread-" })
})

const services = (filename: string, jobThread: URL, log: Layer.Layer<never> = Layer.empty) =>
  Layer.provideMerge(Jobs.layer, SqlServices.layerWithStore({ filename, jobThread })).pipe(Layer.provideMerge(log))

const fileOf = (rows: number) =>
  `Email,city\n${Array.from({ length: rows }, (_, row) => `p${row}@example.com,Oslo\n`).join("")}`

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
        const rows = 40_000
        yield* importText(fileOf(rows)).pipe(
          Effect.andThen(eventually(newest, ({ rowsDone }) => rowsDone > 0)),
          Effect.provide(services(filename, ownEntry))
        )
        const store = new DatabaseSync(filename)
        const left = store.prepare("SELECT state, leased_until, rows_done FROM jobs").get()
        const contacts = store.prepare("SELECT count(*) AS contacts FROM contacts").get()?.["contacts"]
        store.close()
        assert.deepInclude(left, { state: "Loading", leased_until: 0 })
        assert.strictEqual(contacts, left?.["rows_done"])
        const started = performance.now()
        const job = yield* eventually(newest, ({ ended }) => ended !== null).pipe(
          Effect.provide(services(filename, ownEntry))
        )
        assert.deepInclude(job, { state: "Ready", accepted: rows, duplicates: 0, rowsDone: rows })
        // A lease would have been waited for for 30 seconds.
        assert.isBelow(performance.now() - started, 25_000)
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
        if (existsSync(${JSON.stringify(marker)})) await import(${JSON.stringify(ownEntry.href)})
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
        const entries = yield* tries.pipe(
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
              const store = new DatabaseSync(filename)
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
          Effect.provide(services(filename, ownEntry, log.layer))
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
        const rows = 20_000
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
        }).pipe(Effect.provide(services(filename, ownEntry)))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )
})
