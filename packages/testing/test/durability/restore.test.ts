/**
 * S66 A backup comes back wholly or not at all, to a store that nobody uses, and with nothing lost.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { askServe, killableServe, type KillableServe, type ServePlace, servePlace } from "./KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { runRoster } from "./RosterCommand.ts"
import { assertWhole, countOf, endOf, fillContacts, jobsIn, rowsOf, seen, takeLock, writeTo } from "./StoreLook.ts"

const timeout = longRun ? 30 * 60_000 : 120_000

const Row = Schema.Struct({ email: Schema.String, first_name: Schema.NullOr(Schema.String) })

const rows = amount({ ci: 900, long: 900 })
const ballast = amount({ ci: 10_000, long: 100_000 })

const say = (place: ServePlace, word: string) => writeTo(place, `UPDATE contacts SET first_name = '${word}'`)

const words = (place: ServePlace) =>
  rowsOf(
    place,
    Schema.Struct({ first_name: Schema.NullOr(Schema.String) }),
    "SELECT DISTINCT first_name FROM contacts WHERE email LIKE 'p%'"
  ).map((row) => row.first_name)

/** Adds one contact after the other; gives the numbers that were acknowledged. */
const writeAllTheTime = Effect.fnUntraced(
  function* (serve: KillableServe, name: string, acknowledged: Set<number>) {
    for (let number = 1; ; number++) {
      const post = yield* askServe(serve, "POST", "/contacts", [{ Email: `${name}-${number}@example.com` }])
      assert.strictEqual(post.status, 200, post.text)
      acknowledged.add(number)
    }
  },
  Effect.catchTag("NoAnswer", () => Effect.void)
)

const numbersIn = (place: ServePlace, name: string): ReadonlySet<number> =>
  new Set(
    rowsOf(place, Row, "SELECT email, first_name FROM contacts WHERE email LIKE ?", `${name}-%`).map(({ email }) =>
      Number(/-(\d+)@/.exec(email)?.[1])
    )
  )

const keptIn = (place: ServePlace): ReadonlyArray<string> =>
  readdirSync(place.folder).filter((name) => name.includes(".before-restore-"))

/** The sizes and times of all files. */
const filesIn = (place: ServePlace): string =>
  readdirSync(place.folder)
    .map((name) => statSync(join(place.folder, name), { throwIfNoEntry: false }))
    .map((stats) => `${stats?.size} ${stats?.mtimeMs}`)
    .join()

/** A place whose store says "old" and that is served, beside a backup that says "new". */
const oldAndNew = Effect.gen(function* () {
  const place = yield* servePlace
  const serve = yield* killableServe(place)
  fillContacts(place, rows + ballast, "new")
  const file = join(place.folder, "new.db")
  const made = yield* runRoster(place, ["backup", file])
  assert.strictEqual(made.code, 0, made.stderr)
  say(place, "old")
  return { place, serve, file }
})

/** Imports rows so long that some 2000 are a transaction, which ends after 4 MiB of its file. */
const upload = Effect.fnUntraced(function* (serve: KillableServe, count: number) {
  const note = "x".repeat(2000)
  const rows = Array.from({ length: count }, (_, index) => `i${index}@example.com,First ${index},${note}`)
  const form = new FormData()
  form.append("file", new Blob([["Email,FirstName,note", ...rows].join("\n")], { type: "text/csv" }), "people.csv")
  const answer = yield* askServe(serve, "POST", "/contacts/import", form)
  assert.strictEqual(answer.status, 202, answer.text)
})

describe("S.5 restore", () => {
  it.live(
    "S66 a restore refuses a store that is served, and keeps what a killed service has acknowledged",
    () =>
      Effect.gen(function* () {
        const { file, place, serve } = yield* oldAndNew
        const writers = ["a", "b", "c"].map((name) => ({ name, acknowledged: new Set<number>() }))
        const clients = yield* Effect.forkChild(
          Effect.forEach(writers, ({ acknowledged, name }) => writeAllTheTime(serve, name, acknowledged), {
            concurrency: "unbounded",
            discard: true
          })
        )
        const total = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0)
        yield* seen(total, (sum) => sum >= 30)
        const refused = yield* runRoster(place, ["restore", file, "--yes"])
        assert.strictEqual(refused.code, 8, refused.stderr)
        if (process.platform === "linux") assert.include(refused.stderr, `in use by process ${serve.pid} (`)
        const then = total()
        yield* seen(total, (sum) => sum >= then + 30)
        assert.deepStrictEqual([words(place), keptIn(place)], [["old"], []])

        serve.killNow()
        yield* Fiber.join(clients)
        assert.isAbove(statSync(`${place.filename}-wal`).size, 0)
        const restored = yield* runRoster(place, ["restore", file, "--yes"])
        assert.strictEqual(restored.code, 0, restored.stderr)
        assert.deepStrictEqual(words(place), ["new"])
        assertWhole(place)
        const [kept = "", ...others] = keptIn(place)
        assert.deepStrictEqual(others, [])
        const before = { ...place, filename: join(place.folder, kept) }
        assert.strictEqual(statSync(before.filename).mode & 0o777, 0o600)
        assertWhole(before)
        assert.deepStrictEqual(words(before), ["old"])
        for (const { acknowledged, name } of writers) {
          const old = numbersIn(before, name)
          assert.deepStrictEqual(
            [...acknowledged].filter((number) => !old.has(number)),
            [],
            `${name}: acknowledged and not kept`
          )
          assert.strictEqual(numbersIn(place, name).size, 0)
        }
        const next = yield* killableServe(place)
        assert.strictEqual((yield* askServe(next, "GET", "/contacts?limit=5")).status, 200)
        yield* next.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  const kills = amount({ ci: 2, long: 50 })
  it.live(
    `S66 a restore that is killed at one of ${kills} moments leaves the old store or the new one, whole`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S66 killed"))
        const { file, place, serve } = yield* oldAndNew
        yield* serve.stop
        const outcomes: Array<string | null | undefined> = []
        for (let kill = 0; kill < kills; kill++) {
          say(place, "old")
          const restoring = yield* Effect.forkChild(runRoster(place, ["restore", file, "--yes"]))
          // It copies the backup, prepares the copy, and puts it in place: each changes the files.
          const moment = Math.floor(random() * 25)
          const changes = new Set<string>()
          yield* seen(
            () => changes.add(filesIn(place)).size,
            (size) => size > moment || restoring.pollUnsafe() !== undefined
          )
          yield* Fiber.interrupt(restoring)
          // The next process rolls back what the killed one had begun.
          const list = yield* runRoster(place, ["contacts", "list", "--limit", "1"])
          assert.strictEqual(list.code, 0, list.stderr)
          const [word, ...others] = words(place)
          assert.deepStrictEqual(others, [])
          outcomes.push(word)
          assert.strictEqual(countOf(place, "contacts"), rows + ballast)
          assertWhole(place)
        }
        assert.strictEqual((yield* runRoster(place, ["restore", file, "--yes"])).code, 0)
        assert.deepStrictEqual(words(place), ["new"])
        // What the killed ones had staged is gone too.
        assert.deepStrictEqual(
          readdirSync(place.folder).filter((name) => name.includes(".restoring")),
          []
        )
        process.stdout.write(`S66: killed restores left ${outcomes.join(", ")}\n`)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live(
    "S66 an import of which a backup saw the half goes on from there after a restore, and ends exact",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place)
        const count = amount({ ci: 20_000, long: 50_000 })
        const done = () => jobsIn(place)[0]?.rows_done ?? 0
        yield* upload(serve, count)
        yield* seen(done, (rows) => rows >= 1000)
        const file = join(place.folder, "half.db")
        // The import stands still meanwhile.
        const saved = yield* Effect.acquireUseRelease(
          Effect.sync(() => new DatabaseSync(place.filename, { timeout: 0 })),
          (other) =>
            Effect.gen(function* () {
              takeLock(other)
              assert.strictEqual((yield* runRoster(place, ["backup", file])).code, 0)
              return jobsIn({ ...place, filename: file })[0]?.rows_done ?? 0
            }),
          (other) => Effect.sync(() => other.close())
        )
        assert.isBelow(saved, count)
        // The next process must not go on from where this one is by now.
        yield* seen(done, (rows) => rows > saved)
        serve.killNow()
        yield* serve.ended
        const restored = yield* runRoster(place, ["restore", file, "--yes"])
        assert.strictEqual(restored.code, 0, restored.stderr)
        const next = yield* killableServe(place)
        yield* endOf(place)
        const [job] = jobsIn(place)
        assert.deepStrictEqual([job?.state, job?.rows_done, job?.accepted], ["Ready", count, count], next.output())
        assert.strictEqual(countOf(place, "contacts"), count)
        assertWhole(place)
        yield* next.stop
        const then = jobsIn({ ...place, filename: join(place.folder, keptIn(place)[0] ?? "") })[0]?.rows_done
        process.stdout.write(`S66: backed up at ${saved} of ${count} rows, restored at ${then}\n`)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})
