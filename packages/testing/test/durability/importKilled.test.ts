/**
 * S56 An import survives the death of its process, however often it comes.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"
import { askServe, killableServe, type KillableServe, type ServePlace, servePlace } from "./KillableServe.ts"
import { assertImported, type ImportedFile, importFile, SeenRejection } from "./ImportedFile.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { assertWhole, contactsIn, countOf, endOf, jobsIn, rowsOf, seen, takeLock, writeTo } from "./StoreLook.ts"

// With notes of this length a transaction of an import is of some 2000 rows, and without them of up to 50,000.
const noteLength = 2000
const rows = amount({ ci: 10_000, long: 500_000 })
const kills = amount({ ci: 2, long: 100 })
// Each look opens the store, and a transaction is much longer.
const pause = "5 millis"
const timeout = amount({ ci: 600_000, long: 3_600_000 })

const upload = Effect.fnUntraced(function* (serve: KillableServe, { text }: ImportedFile) {
  const form = new FormData()
  form.append("file", new Blob([text], { type: "text/csv" }), "people.csv")
  const answer = yield* askServe(serve, "POST", "/contacts/import", form)
  assert.strictEqual(answer.status, 202, answer.text)
})

const checkExact = (place: ServePlace, file: ImportedFile) => {
  assertImported(file, {
    jobs: jobsIn(place),
    contacts: contactsIn(place),
    rejections: rowsOf(place, SeenRejection, "SELECT line, reason FROM job_rejections ORDER BY line"),
    parts: countOf(place, "job_parts")
  })
  assertWhole(place)
}

const Step = Schema.Struct({ lease: Schema.String, before: Schema.Int, after: Schema.Int })

/** Notes each step of a job in the store itself, in the transaction of the step. */
const noteSteps = (place: ServePlace) =>
  writeTo(
    place,
    `CREATE TABLE noted_steps (lease TEXT NOT NULL, before INTEGER NOT NULL, after INTEGER NOT NULL);
     CREATE TRIGGER note_step AFTER UPDATE OF rows_done ON jobs
     BEGIN INSERT INTO noted_steps VALUES (new.lease, old.rows_done, new.rows_done); END`
  )

const notedSteps = (place: ServePlace) =>
  rowsOf(place, Step, "SELECT lease, before, after FROM noted_steps ORDER BY rowid")

/** The number of the process, which its start follows. */
const pidOf = (lease: string): number => Number.parseInt(lease.split(" ")[1] ?? "")

describe("S.5 an import whose process dies", () => {
  it.live(
    `S56 killed at ${kills} random points, an import of ${rows} rows is taken up at once and ends exact`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S56"))
        const place = yield* servePlace
        const file = importFile(rows, amount({ ci: noteLength, long: 0 }))
        let serve = yield* killableServe(place)
        noteSteps(place)
        yield* upload(serve, file)
        const points = Array.from({ length: kills }, () => Math.floor(random() * rows * 0.6)).sort((a, b) => a - b)
        let killed = 0
        // Where the last kill found it, and how many kills it did not get further: after three it would be given up.
        let before = 0
        let idle = 0
        for (const point of points) {
          yield* seen(
            () => jobsIn(place)[0]?.rows_done ?? 0,
            (done) => done >= point && (done > before || idle < 2),
            pause
          )
          serve.killNow()
          yield* serve.ended
          const { duplicates = 0, rows_done: done = -1, state } = jobsIn(place)[0] ?? {}
          // On a busy machine the import may be over before the last kills.
          if (state === "Ready") {
            serve = yield* killableServe(place)
            break
          }
          killed++
          idle = done === before ? idle + 1 : 0
          before = done
          // A batch and how far it reads are one transaction.
          assert.strictEqual(countOf(place, "contacts") + duplicates + countOf(place, "job_rejections"), done)
          const restarted = performance.now()
          serve = yield* killableServe(place)
          const { pid } = serve
          yield* seen(
            () => jobsIn(place)[0],
            (job) => job !== undefined && job.lease !== null && pidOf(job.lease) === pid,
            pause
          )
          // Each transaction renewed it for 30 seconds.
          assert.isBelow(performance.now() - restarted, 25_000, "the lease of the dead process kept the job")
        }
        yield* endOf(place)
        assert.isAtLeast(killed, 1)
        const steps = notedSteps(place)
        // Each step begins where the one before it ended, whoever made it.
        let at = 0
        for (const { after, before } of steps) {
          assert.strictEqual(before, at)
          at = after
        }
        assert.strictEqual(at, rows)
        yield* serve.stop
        checkExact(place, file)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live(
    "S56 an import from an address goes on with the file that it began with, whatever lies there now",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        // More than a transaction: the import has not ended when the first one is seen.
        const file = importFile(7_000, noteLength)
        const files = [file.text, "Email\r\nanother@example.com\r\n"]
        let asked = 0
        const server = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const server = createServer((_, response) => {
              response.writeHead(200, { "Content-Type": "text/csv" }).end(files[asked++])
            }).listen(0, "127.0.0.1")
            await once(server, "listening")
            return server
          }),
          (server) => Effect.sync(() => server.close())
        )
        // A server that listens on TCP has an address of this kind.
        const { port } = server.address() as AddressInfo
        const args = ["--allow-file-url", "127.0.0.1"]
        const serve = yield* killableServe(place, { args })
        const address = encodeURIComponent(`http://127.0.0.1:${port}/people.csv`)
        const answer = yield* askServe(serve, "POST", `/contacts/import?fileUrl=${address}`)
        assert.strictEqual(answer.status, 202, answer.text)
        yield* seen(
          () => jobsIn(place)[0]?.rows_done ?? 0,
          (done) => done >= 2000,
          pause
        )
        serve.killNow()
        yield* serve.ended
        assert.strictEqual(jobsIn(place)[0]?.state, "Loading")
        const next = yield* killableServe(place, { args })
        yield* endOf(place)
        checkExact(place, file)
        assert.strictEqual(asked, 1)
        yield* next.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live(
    "S56 killed the moment after its 202, an import loses nothing",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const file = importFile(3000)
        const serve = yield* killableServe(place)
        yield* upload(serve, file)
        serve.killNow()
        yield* serve.ended
        // It stays off for two days, and what is to be done is done all the same.
        writeTo(place, "UPDATE jobs SET created = created - 172800, expires = expires - 172800")
        const next = yield* killableServe(place)
        yield* endOf(place)
        checkExact(place, file)
        yield* next.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live(
    "S65 of two processes on one file the one that works is killed: the other goes on, and no row is done twice",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const file = importFile(amount({ ci: 8_000, long: 100_000 }), noteLength)
        const first = yield* killableServe(place)
        const second = yield* killableServe(place)
        noteSteps(place)
        yield* upload(first, file)
        const job = yield* seen(
          () => jobsIn(place)[0],
          (job) => (job?.rows_done ?? 0) >= 3000,
          pause
        )
        const worker = pidOf(job?.lease ?? "")
        const [dying, living] = worker === first.pid ? [first, second] : [second, first]
        assert.strictEqual(dying.pid, worker)
        dying.killNow()
        yield* dying.ended
        yield* endOf(place)
        checkExact(place, file)
        const steps = notedSteps(place)
        const handedOver = steps.findIndex(({ lease }) => pidOf(lease) === living.pid)
        assert.isAbove(handedOver, 0)
        // Nobody came in between: first the one, then the other.
        assert.isTrue(steps.slice(0, handedOver).every(({ lease }) => pidOf(lease) === dying.pid))
        assert.isTrue(steps.slice(handedOver).every(({ lease }) => pidOf(lease) === living.pid))
        yield* living.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live(
    "S56 a process that ends by SIGTERM in the midst of an import leaves it to the next one at once",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const file = importFile(7_000, noteLength)
        const serve = yield* killableServe(place)
        yield* upload(serve, file)
        yield* seen(
          () => jobsIn(place)[0]?.rows_done ?? 0,
          (done) => done >= 2000,
          pause
        )
        yield* serve.stop
        assert.strictEqual(jobsIn(place)[0]?.state, "Loading")
        // Even where the number of the process says nothing, as in a container that was made anew.
        writeTo(place, "UPDATE jobs SET lease = 'somebody else'")
        const next = yield* killableServe(place)
        yield* endOf(place)
        checkExact(place, file)
        yield* next.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live.skipIf(!longRun)(
    "S65 an import that another process keeps from writing for longer than it waits goes on afterwards (nightly)",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        // Several transactions long, so that the lock is taken between two of them.
        const file = importFile(8_000, noteLength)
        const serve = yield* killableServe(place)
        yield* upload(serve, file)
        yield* seen(
          () => jobsIn(place)[0]?.rows_done ?? 0,
          (done) => done >= 1000,
          pause
        )
        using other = new DatabaseSync(place.filename, { timeout: 0 })
        takeLock(other)
        yield* seen(serve.output, (output) => output.includes("will be retried"))
        other.exec("ROLLBACK")
        yield* endOf(place)
        checkExact(place, file)
        yield* serve.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})
