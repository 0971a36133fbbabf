/**
 * S66 A backup comes back while the service goes on: at one moment, wholly, and with nothing lost.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import {
  askServe,
  killableServe,
  type KillableServe,
  type ServePlace,
  servePlace
} from "../../src/durability/KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/durability/LongRun.ts"
import { runRoster } from "../../src/durability/RosterCommand.ts"
import {
  assertWhole,
  countOf,
  endOf,
  fillContacts,
  jobsIn,
  rowsOf,
  seen,
  takeLock,
  writeTo
} from "../../src/durability/StoreLook.ts"

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

const decodePage = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Array(Schema.Struct({ Email: Schema.String, FirstName: Schema.optional(Schema.NullOr(Schema.String)) }))
  )
)

/** Reads all the time; each answer has to be of one moment. */
const readAllTheTime = Effect.fnUntraced(
  function* (serve: KillableServe, statuses: Map<string, number>) {
    for (;;) {
      const { status, text } = yield* askServe(serve, "GET", "/contacts?limit=900")
      note(statuses, "GET", status)
      if (status !== 200) continue
      const said = new Set(
        (yield* decodePage(text)).flatMap(({ Email, FirstName }) => (Email.startsWith("p") ? [FirstName] : []))
      )
      assert.strictEqual(said.size, 1, `one answer held ${[...said].join(" and ")}`)
    }
  },
  Effect.catchTag("NoAnswer", () => Effect.void)
)

const note = (statuses: Map<string, number>, method: string, status: number) => {
  const key = `${method} ${status}`
  statuses.set(key, (statuses.get(key) ?? 0) + 1)
}

/** Adds one contact after the other, and changes and deletes what it added; gives the numbers that were acknowledged. */
const writeAllTheTime = Effect.fnUntraced(
  function* (serve: KillableServe, name: string, acknowledged: Set<number>, statuses: Map<string, number>) {
    for (let number = 1; ; number++) {
      const post = yield* askServe(serve, "POST", "/contacts", [{ Email: `${name}-${number}@example.com` }])
      note(statuses, "POST", post.status)
      if (post.status === 200) acknowledged.add(number)
      note(
        statuses,
        "PUT",
        (yield* askServe(serve, "PUT", `/contacts/p${number}@example.com`, { LastName: name })).status
      )
      note(
        statuses,
        "PUT",
        (yield* askServe(serve, "PUT", `/contacts/${name}-${number}@example.com`, { FirstName: "x" })).status
      )
      note(statuses, "DELETE", (yield* askServe(serve, "DELETE", `/contacts/none-${number}@example.com`)).status)
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

describe("S.5 restore under load", () => {
  it.live(
    "S66 a restore is one moment to whoever reads and writes, loses no acknowledged write, and needs no restart",
    () =>
      Effect.gen(function* () {
        const { file, place, serve } = yield* oldAndNew
        const statuses = new Map<string, number>()
        const writers = ["a", "b", "c"].map((name) => ({ name, acknowledged: new Set<number>() }))
        const clients = yield* Effect.forkChild(
          Effect.all(
            [
              readAllTheTime(serve, statuses),
              ...writers.map(({ acknowledged, name }) => writeAllTheTime(serve, name, acknowledged, statuses))
            ],
            { concurrency: "unbounded", discard: true }
          )
        )
        const total = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0)
        yield* seen(total, (sum) => sum >= 30)
        const restored = yield* runRoster(place, ["restore", file, "--yes"])
        assert.strictEqual(restored.code, 0, restored.stderr)
        const then = total()
        yield* seen(total, (sum) => sum >= then + 30)
        yield* serve.stop
        yield* Fiber.join(clients)

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
          const now = numbersIn(place, name)
          const lost = [...acknowledged].filter((number) => !old.has(number) && !now.has(number))
          assert.deepStrictEqual(lost, [], `${name}: acknowledged and in neither`)
          assert.deepStrictEqual(
            [...old].filter((number) => now.has(number)),
            [],
            `${name}: in both`
          )
          assert.isAbove(old.size, 0)
          assert.isAbove(now.size, 0)
        }
        const allowed = ["GET 200", "POST 200", "PUT 200", "PUT 404", "DELETE 200", "DELETE 404"]
        const seenStatuses = [...statuses.keys()].filter((key) => !key.endsWith(" 503"))
        assert.deepStrictEqual(
          seenStatuses.filter((key) => !allowed.includes(key)),
          [],
          serve.output()
        )
        process.stdout.write(`S66 restore: ${JSON.stringify(Object.fromEntries(statuses))}\n`)
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
        const outcomes: Array<string | null | undefined> = []
        for (let kill = 0; kill < kills; kill++) {
          say(place, "old")
          const begun = keptIn(place).length
          const restoring = yield* Effect.forkChild(runRoster(place, ["restore", file, "--yes"]))
          yield* seen(
            () => keptIn(place).length,
            (kept) => kept > begun
          )
          // From here on it takes the lock, keeps the old content and writes the new one: each changes the files.
          const moment = Math.floor(random() * 60)
          const changes = new Set<string>()
          yield* seen(
            () => changes.add(filesIn(place)).size,
            (size) => size > moment || restoring.pollUnsafe() !== undefined
          )
          yield* Fiber.interrupt(restoring)
          assert.strictEqual((yield* askServe(serve, "GET", "/contacts?limit=1")).status, 200)
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
        yield* serve.stop
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
        const other = new DatabaseSync(place.filename, { timeout: 0 })
        takeLock(other)
        assert.strictEqual((yield* runRoster(place, ["backup", file])).code, 0)
        const saved = jobsIn({ ...place, filename: file })[0]?.rows_done ?? 0
        assert.isBelow(saved, count)
        other.close()
        // The process that still works on it must not go on from where it is by now.
        yield* seen(done, (rows) => rows > saved)
        const restored = yield* runRoster(place, ["restore", file, "--yes"])
        assert.strictEqual(restored.code, 0, restored.stderr)
        yield* endOf(place)
        const [job] = jobsIn(place)
        assert.deepStrictEqual([job?.state, job?.rows_done, job?.accepted], ["Ready", count, count], serve.output())
        assert.strictEqual(countOf(place, "contacts"), count)
        assertWhole(place)
        yield* serve.stop
        const then = jobsIn({ ...place, filename: join(place.folder, keptIn(place)[0] ?? "") })[0]?.rows_done
        process.stdout.write(`S66: backed up at ${saved} of ${count} rows, restored at ${then}\n`)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live.skipIf(!longRun)(
    "S66 an import that a backup does not know ends with the restore, and the service works on (nightly)",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place)
        const file = join(place.folder, "before.db")
        assert.strictEqual((yield* runRoster(place, ["backup", file])).code, 0)
        yield* upload(serve, 7_000)
        yield* seen(
          () => jobsIn(place)[0]?.rows_done ?? 0,
          (rows) => rows >= 1000
        )
        assert.strictEqual((yield* runRoster(place, ["restore", file, "--yes"])).code, 0)
        assert.deepStrictEqual([jobsIn(place), countOf(place, "contacts")], [[], 0])
        yield* upload(serve, 500)
        assert.strictEqual(yield* endOf(place), "Ready")
        assert.strictEqual(countOf(place, "contacts"), 500)
        yield* serve.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})
