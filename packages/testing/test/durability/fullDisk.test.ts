/**
 * S61 A full disk: what does not fit is refused in words that say so, nothing that was acknowledged is touched, and the same
 * process works again once there is room.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import { readdirSync } from "node:fs"
import { lookAt } from "./power-loss/FoundStore.ts"
import { askServe, download, killableServe, type KillableServe, type ServeAnswer, uploadsIn } from "./KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { powerLossTrial } from "./power-loss/PowerLossTrial.ts"
import { assertWhole, contactsIn, endOf, jobsIn, seen, writeTo } from "./StoreLook.ts"
import { canTrace } from "./power-loss/Strace.ts"
import { plannedWriterFile } from "./PlannedWriterFile.ts"
import { canMount, fillUpTo, tinyPlace } from "./TinyDisk.ts"

const MiB = 1024 * 1024

const WireError = Schema.fromJsonString(Schema.Struct({ Error: Schema.String }))
const Link = Schema.fromJsonString(Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String }))

const note = "n".repeat(2000)

/** Adds contacts, some of them in one request. */
const add = (serve: KillableServe, from: number, count: number) =>
  askServe(
    serve,
    "POST",
    "/contacts",
    Array.from({ length: count }, (_, index) => ({
      Email: `p${from + index}@example.com`,
      CustomFields: { note: `${note}${from + index}` }
    }))
  )

const assertFull = Effect.fnUntraced(function* ({ status, text }: ServeAnswer) {
  assert.include([503, 507], status, text)
  assert.include((yield* Schema.decodeEffect(WireError)(text)).Error, "the disk is full")
})

/** Adds contacts by the twenty until they are refused, and gives how many there are. */
const addUntilFull = Effect.fnUntraced(function* (serve: KillableServe) {
  for (let count = 0; ; count += 20) {
    const answer = yield* add(serve, count, 20)
    if (answer.status === 200) continue
    yield* assertFull(answer)
    assert.isAbove(count, 0)
    return count
  }
})

const emailsUpTo = (count: number) => Array.from({ length: count }, (_, index) => `p${index}@example.com`)

const askForExport = Effect.fnUntraced(function* (serve: KillableServe) {
  const answer = yield* askServe(serve, "POST", "/contacts/export?fileFormat=Csv")
  assert.strictEqual(answer.status, 202, answer.text)
  return yield* Schema.decodeEffect(Link)(answer.text)
})

const statusOf = (serve: KillableServe, id: string) =>
  Effect.map(askServe(serve, "GET", `/contacts/export/${id}/status`), ({ text }) => text)

const importFile = (serve: KillableServe, rows: number, size: number) => {
  const content = Array.from({ length: rows }, (_, row) => `i${row}@example.com,${"n".repeat(size)}\n`).join("")
  const form = new FormData()
  form.set("file", new Blob([`Email,note\n${content}`]), "people.csv")
  return askServe(serve, "POST", "/contacts/import", form)
}

describe.skipIf(!canMount)("S.5 a full disk, which needs to mount one", () => {
  it.live(
    "S61 writes until the disk is full: they are refused, reading goes on, and writing again when there is room",
    () =>
      Effect.gen(function* () {
        const { disk, place } = yield* tinyPlace({ store: 4 * MiB, temporary: MiB })
        const serve = yield* killableServe(place)
        const makeRoom = fillUpTo(disk, 2 * MiB)
        const count = yield* addUntilFull(serve)
        // Whatever still fits is acknowledged and kept; what does not is told so each time.
        let more = 0
        for (let each = 0; each < 5; each++) {
          const answer = yield* add(serve, count + more, 1)
          if (answer.status === 200) more++
          else yield* assertFull(answer)
        }
        assert.strictEqual((yield* askServe(serve, "GET", "/contacts/p0@example.com")).status, 200)
        assert.deepStrictEqual(
          contactsIn(place).map(({ email }) => email),
          emailsUpTo(count + more)
        )
        makeRoom()
        assert.strictEqual((yield* add(serve, count + more, 20)).status, 200)
        const all = emailsUpTo(count + more + 20)
        yield* serve.stop
        assertWhole(place)
        assert.deepStrictEqual(
          contactsIn(place).map(({ email }) => email),
          all
        )
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "S61 the process ends and starts on a disk without room: nothing is lost, and it serves again when there is some",
    () =>
      Effect.gen(function* () {
        const { disk, place } = yield* tinyPlace({ store: 4 * MiB, temporary: MiB })
        const serve = yield* killableServe(place)
        const makeRoom = fillUpTo(disk, 2 * MiB)
        const count = yield* addUntilFull(serve)
        // The last bytes go as well, so that the WAL cannot be moved to the file.
        const giveBack = fillUpTo(disk, 0)
        yield* serve.stop
        const started = yield* Effect.exit(Effect.scoped(killableServe(place)))
        if (Exit.isFailure(started))
          assert.include(Cause.pretty(started.cause), "Check the path, the permissions and the disk")
        giveBack()
        makeRoom()
        const again = yield* killableServe(place)
        assert.strictEqual((yield* add(again, count, 20)).status, 200)
        assert.deepStrictEqual(
          contactsIn(place).map(({ email }) => email),
          emailsUpTo(count + 20)
        )
        yield* again.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "S61 an export for which there is no room: its status says Error, and a later one is made when there is",
    () =>
      Effect.gen(function* () {
        const { disk, place } = yield* tinyPlace({ store: 8 * MiB, temporary: 8 * MiB })
        const serve = yield* killableServe(place)
        for (let from = 0; from < 600; from += 100) assert.strictEqual((yield* add(serve, from, 100)).status, 200)
        const makeRoom = fillUpTo(disk, 600 * 1024)
        const { PublicExportID: id } = yield* askForExport(serve)
        yield* endOf(place)
        assert.include(yield* statusOf(serve, id), "Error")
        assert.strictEqual(jobsIn(place)[0]?.problem, "the disk is full")
        makeRoom()
        const later = yield* askForExport(serve)
        yield* endOf(place, 1)
        assert.include(yield* statusOf(serve, later.PublicExportID), "Ready")
        const lines = Buffer.from(yield* download(later.Link))
          .toString()
          .trim()
          .split("\n")
        assert.strictEqual(lines.length, 601)
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "S61 an export for whose rows the temporary folder has no room: its status says Error, and nothing stays behind",
    () =>
      Effect.gen(function* () {
        const { place } = yield* tinyPlace({ store: 8 * MiB, temporary: 256 * 1024 })
        const serve = yield* killableServe(place)
        for (let from = 0; from < 600; from += 100) assert.strictEqual((yield* add(serve, from, 100)).status, 200)
        const { PublicExportID: id } = yield* askForExport(serve)
        yield* endOf(place)
        assert.include(yield* statusOf(serve, id), "Error")
        assert.include(jobsIn(place)[0]?.problem ?? "", "temporary folder")
        assert.deepStrictEqual(readdirSync(place.temporary), [])
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "S61 an import for which the store has no room is refused and leaves no job, and is taken when there is",
    () =>
      Effect.gen(function* () {
        const { disk, place } = yield* tinyPlace({ store: 8 * MiB, temporary: 4 * MiB })
        const serve = yield* killableServe(place)
        const makeRoom = fillUpTo(disk, 700 * 1024)
        yield* assertFull(yield* importFile(serve, 600, 2000))
        assert.deepStrictEqual(jobsIn(place), [])
        yield* seen(
          () => uploadsIn(place).length,
          (count) => count === 0
        )
        makeRoom()
        const taken = yield* importFile(serve, 600, 2000)
        assert.strictEqual(taken.status, 202, taken.text)
        assert.strictEqual(yield* endOf(place), "Ready")
        assert.strictEqual(contactsIn(place).length, 600)
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "S61 an import whose rows have no room waits, with its file and what it has done, and ends when there is some",
    () =>
      Effect.gen(function* () {
        const { disk, place } = yield* tinyPlace({ store: 8 * MiB, temporary: 4 * MiB })
        const serve = yield* killableServe(place)
        const makeRoom = fillUpTo(disk, 1.6 * MiB)
        const taken = yield* importFile(serve, 600, 2000)
        assert.strictEqual(taken.status, 202, taken.text)
        yield* seen(
          () => serve.output(),
          (output) => output.includes("waits for room: the disk is full")
        )
        assert.deepInclude(jobsIn(place)[0], { state: "Loading", rows_done: 0 })
        yield* seen(
          () => jobsIn(place)[0]?.lease,
          (lease) => lease === null
        )
        makeRoom()
        // It would be taken up again after 30 seconds.
        writeTo(place, "UPDATE jobs SET leased_until = 0")
        assert.strictEqual(yield* endOf(place), "Ready")
        assert.strictEqual(contactsIn(place).length, 600)
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    90_000
  )

  it.live(
    "S61 no room for the upload of an import: it is refused, nothing stays behind, and a smaller one is taken",
    () =>
      Effect.gen(function* () {
        const { place } = yield* tinyPlace({ store: 8 * MiB, temporary: 256 * 1024 })
        const serve = yield* killableServe(place)
        const refused = yield* importFile(serve, 600, 2000)
        assert.strictEqual(refused.status, 503, refused.text)
        assert.include((yield* Schema.decodeEffect(WireError)(refused.text)).Error, "temporary folder")
        assert.deepStrictEqual(jobsIn(place), [])
        yield* seen(
          () => readdirSync(place.temporary).length,
          (count) => count === 0
        )
        assert.strictEqual((yield* importFile(serve, 10, 100)).status, 202)
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )
})

describe.skipIf(!canTrace)("S.5 a full disk at any call, which needs strace", () => {
  const last = amount({ ci: 12, long: 60 })

  it.live(
    "S61 the disk is full at some write and has room again: what did not fit is refused, and nothing acknowledged is lost",
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S61"))
        const rounds = amount({ ci: 1, long: 40 })
        const refusals: Array<unknown> = []
        // Not every place is one at which something is written.
        for (let round = 0; round < rounds || (refusals.length === 0 && round < rounds + 6); round++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { filename, losses, oracle, run } = yield* powerLossTrial({
                writer: yield* plannedWriterFile,
                random
              })
              yield* run({ first: 1, last: 3, share: 0 })
              // A transaction writes some ten pages, each in two calls, and a checkpoint reads and writes them again.
              const first = 20 + Math.floor(random() * 100)
              const inject = [`pwrite64:error=ENOSPC:when=${first}..${first + Math.floor(random() * 30)}`]
              const { exitCode, stderr, stdout } = yield* run({
                first: 4,
                last,
                inject,
                share: amount({ ci: 0.1, long: 1 })
              })
              assert.strictEqual(exitCode, 0, stderr)
              assert.strictEqual(oracle.done.length + oracle.refused.length, last)
              if (oracle.refused.length > 0) assert.include(stdout, "the disk is full")
              refusals.push(...oracle.refused)
              assert.deepStrictEqual(losses, [])
              const found = lookAt(filename)
              assert.isTrue("content" in found && oracle.allows(found.content))
            })
          )
        }
        assert.isNotEmpty(refusals)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    longRun ? 30 * 60_000 : 120_000
  )
})
