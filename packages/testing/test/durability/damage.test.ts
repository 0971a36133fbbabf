/**
 * S63 A damaged store is refused and left as it is, or what is read of it is what was written.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { chmodSync, closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { imageOf, layDown, namesOf, readNames, type StoreImage, storeImages } from "./DamagedStore.ts"
import { askServe, killableServe, servePlace } from "./KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { runRoster } from "./RosterCommand.ts"
import { writeTo } from "./StoreLook.ts"

const timeout = longRun ? 30 * 60_000 : 60_000
const page = 4096

const mustBe = (bytes: Buffer | undefined): Buffer => bytes ?? assert.fail("the image lacks a file")

const changed = (bytes: Buffer | undefined, change: (copy: Buffer) => void): Buffer => {
  const copy = Buffer.from(mustBe(bytes))
  change(copy)
  return copy
}

const flipped = (bytes: Buffer | undefined, at: number, bit: number): Buffer =>
  changed(bytes, (copy) => copy.writeUInt8(copy.readUInt8(at) ^ (1 << bit), at))

/** What came of opening and reading an image. */
type Outcome = "refused" | "unreadable" | ReadonlyArray<string>

/** Opens a damaged image. Whatever is refused must have stayed as it was. */
const tryImage = (image: StoreImage) =>
  Effect.gen(function* () {
    const filename = yield* layDown(image)
    const result = yield* Effect.result(readNames(filename))
    if (Result.isSuccess(result)) return result.success
    const { failure } = result
    const after = imageOf(filename)
    if (failure._tag === "SqlError") return "unreadable"
    if (failure._tag === "StoreDamaged") {
      assert.include(failure.message, filename)
      assert.include(failure.message, "roster restore FILE")
    }
    for (const file of ["database", "wal"] as const) {
      assert.strictEqual(after[file]?.length, image[file]?.length, `${failure.message}: ${file}`)
      assert.isTrue(image[file] === undefined || after[file]?.equals(image[file]), `${failure.message}: ${file}`)
    }
    return "refused"
  }).pipe(
    Effect.scoped,
    Effect.map((outcome): Outcome => outcome)
  )

const count = (outcomes: ReadonlyArray<Outcome>): string =>
  `${outcomes.filter((outcome) => outcome === "refused").length} refused, ${outcomes.filter((outcome) => outcome === "unreadable").length} met by a query, ${outcomes.filter(Array.isArray).length} intact`

const isOneOf = (outcome: Outcome, states: ReadonlyArray<ReadonlyArray<string>>): boolean =>
  Array.isArray(outcome) && states.some((state) => state.join() === outcome.join())

const after = [300, 400, 500, 600].map((count) => namesOf("a", count))

describe("S.5 damage to the file", () => {
  it.effect(
    "S63 flipped bits of the header, of definitions, of the pages of trees and of free pages",
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S63"))
        const { closed } = yield* storeImages("a")
        const length = mustBe(closed.database).length
        const places: Array<readonly [at: number, bit: number]> = []
        const bit = () => Math.floor(random() * 8)
        for (let at = 0; at < 100; at++) places.push([at, bit()])
        // The head of each tree's page, and where its cells lie.
        for (let at = 100; at < 140; at++) places.push([at, bit()])
        for (let start = page; start < length; start += page) {
          for (const at of [0, 1, 3, 5, 7, 8, 9, 12]) places.push([start + at, bit()])
        }
        const outcomes: Array<Outcome> = []
        for (const [at, bit] of places.filter(() => longRun || random() < 0.2)) {
          const outcome = yield* tryImage({ ...closed, database: flipped(closed.database, at, bit) })
          outcomes.push(outcome)
          const isSound = !Array.isArray(outcome) || isOneOf(outcome, [namesOf("a", 600)])
          assert.isTrue(isSound, `bit ${bit} of byte ${at} (page ${Math.floor(at / page) + 1}): ${outcome.slice(0, 5)}`)
        }
        process.stdout.write(`S63: ${outcomes.length} flipped bits: ${count(outcomes)}\n`)
        assert.isAbove(outcomes.filter((outcome) => outcome === "refused").length, 30)
      }),
    timeout
  )

  it.effect(
    "S63 zeroed pages and files that were cut",
    () =>
      Effect.gen(function* () {
        const { closed } = yield* storeImages("a")
        const length = mustBe(closed.database).length
        const images: Array<readonly [name: string, image: StoreImage]> = []
        for (let start = 0; start < length; start += page) {
          images.push([
            `page ${start / page + 1} zeroed`,
            { ...closed, database: changed(closed.database, (copy) => copy.fill(0, start, start + page)) }
          ])
          if (start > 0)
            images.push([`cut at ${start}`, { ...closed, database: mustBe(closed.database).subarray(0, start) }])
        }
        const outcomes: Array<Outcome> = []
        for (const [name, image] of images) {
          const outcome = yield* tryImage(image)
          outcomes.push(outcome)
          if (name.startsWith("cut") || !isOneOf(outcome, [namesOf("a", 600)]))
            assert.strictEqual(outcome, "refused", name)
        }
        process.stdout.write(`S63: ${outcomes.length} zeroed pages and cuts: ${count(outcomes)}\n`)
      }),
    timeout
  )

  it.effect("S63 a file that is no database", () =>
    Effect.gen(function* () {
      const text = Buffer.from("Email,Name\nann@example.com,Ann\n".repeat(400))
      for (const database of [Buffer.alloc(8192), Buffer.alloc(1), Buffer.alloc(65_536, 0xff), text]) {
        assert.strictEqual(yield* tryImage({ database, wal: undefined }), "refused")
      }
    })
  )
})

describe("S.5 damage to the WAL", () => {
  it.effect(
    "S63 a WAL that was cut or flipped gives what was committed before that",
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S63 WAL"))
        const { crashed } = yield* storeImages("a")
        const wal = mustBe(crashed.wal)
        assert.deepStrictEqual(yield* tryImage(crashed), namesOf("a", 600))
        const outcomes: Array<Outcome> = []
        for (let round = 0; round < amount({ ci: 40, long: 3000 }); round++) {
          const at = Math.floor(random() * wal.length)
          const damagedWal = random() < 0.5 ? wal.subarray(0, at) : flipped(wal, at, Math.floor(random() * 8))
          const outcome = yield* tryImage({ ...crashed, wal: damagedWal })
          outcomes.push(outcome)
          assert.isTrue(
            outcome === "refused" || isOneOf(outcome, after),
            `byte ${at} of ${wal.length}: ${outcome.length} contacts`
          )
        }
        process.stdout.write(`S63: ${outcomes.length} cut or flipped WALs: ${count(outcomes)}\n`)
      }),
    timeout
  )

  it.effect("S63 a WAL that is gone gives what the file holds, and never an empty store", () =>
    Effect.gen(function* () {
      const { crashed } = yield* storeImages("a")
      for (const wal of [undefined, Buffer.alloc(0), Buffer.alloc(20_000)]) {
        assert.deepStrictEqual(yield* tryImage({ ...crashed, wal }), namesOf("a", 300))
      }
    })
  )

  it.effect("S63 a WAL whose file is gone, empty or cut is not taken for a new store", () =>
    Effect.gen(function* () {
      const { crashed } = yield* storeImages("a")
      for (const database of [undefined, Buffer.alloc(0), Buffer.alloc(300)]) {
        assert.strictEqual(yield* tryImage({ ...crashed, database }), "refused")
      }
    })
  )

  it.effect("S63 the WAL of another store", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* storeImages("a"), yield* storeImages("b")]
      const outcome = yield* tryImage({ ...a.crashed, wal: b.crashed.wal })
      assert.isTrue(
        outcome === "refused" || isOneOf(outcome, after),
        `read: ${outcome.slice(0, 3)} of ${outcome.length}`
      )
    })
  )
})

const decodeKept = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ kept: Schema.String })))

/** The damages that a user sees through the command line. */
const damages: Record<string, (image: { readonly crashed: StoreImage; readonly closed: StoreImage }) => StoreImage> = {
  "a flipped bit of the header": ({ closed }) => ({ ...closed, database: flipped(closed.database, 17, 3) }),
  "a cut file": ({ closed }) => ({ ...closed, database: mustBe(closed.database).subarray(0, 30_000) }),
  "an empty file beside a WAL": ({ crashed }) => ({ ...crashed, database: Buffer.alloc(0) }),
  "a text file": () => ({ database: Buffer.from("Email,Name\n".repeat(500)), wal: undefined })
}

/** A backup of a sound store. */
const backupOf = Effect.fnUntraced(function* (sound: StoreImage) {
  const filename = yield* layDown(sound)
  const folder = dirname(filename)
  const backup = join(folder, "backup.db")
  assert.strictEqual((yield* runRoster({ filename, folder }, ["backup", backup])).code, 0)
  return backup
})

describe("S.5 damage, at the command line", () => {
  it.live.skipIf(process.platform !== "linux")(
    "S63 a restore does not put a damaged store aside that is in use, or without consent",
    () =>
      Effect.gen(function* () {
        const images = yield* storeImages("a")
        const image = { ...images.crashed, database: Buffer.alloc(0) }
        const filename = yield* layDown(image)
        const place = { filename, folder: dirname(filename) }
        const backup = yield* backupOf(images.closed)
        // A program that has it open would go on with the file under its new name.
        const user = openSync(filename, "r")
        const inUse = yield* runRoster(place, ["restore", backup, "--yes"])
        closeSync(user)
        assert.strictEqual(inUse.code, 8, inUse.stderr)
        assert.include(inUse.stderr, `in use by process ${process.pid} (`)
        const declined = yield* runRoster(place, ["restore", backup])
        assert.strictEqual(declined.code, 3, declined.stderr)
        assert.deepStrictEqual(imageOf(filename), image)
      }),
    timeout
  )

  for (const [name, damage] of Object.entries(damages)) {
    it.live(
      `S63 ${name} is refused by every command, and put aside by a restore`,
      () =>
        Effect.gen(function* () {
          const images = yield* storeImages("a")
          const image = damage(images)
          const filename = yield* layDown(image)
          const place = { filename, folder: dirname(filename) }
          for (const args of [
            ["contacts", "list"],
            ["serve", "--port", "0"],
            ["backup", join(place.folder, "copy.db")]
          ]) {
            const ended = yield* runRoster(place, args)
            assert.strictEqual(ended.code, 8, `${args.join(" ")}: ${ended.stderr}`)
            assert.strictEqual(ended.stdout, "")
            assert.include(ended.stderr, filename)
            assert.include(ended.stderr, "roster restore FILE")
            assert.notInclude(readdirSync(place.folder), "copy.db")
          }
          assert.deepStrictEqual(imageOf(filename), image)

          if (process.platform !== "linux") return
          const backup = yield* backupOf(images.closed)
          const restored = yield* runRoster(place, ["restore", backup, "--yes"])
          assert.strictEqual(restored.code, 0, restored.stderr)
          const { kept } = yield* decodeKept(restored.stdout)
          assert.match(kept, /roster\.db\.damaged-\d{8}T\d{6}Z$/)
          assert.deepStrictEqual(imageOf(kept), image)
          assert.deepStrictEqual(yield* readNames(filename), namesOf("a", 600))
        }),
      timeout
    )
  }

  it.live(
    "S63 damage beyond 64 MiB, which opening does not look for, is met by a query: 503 with the way out, and no backup",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        yield* Effect.flatMap(killableServe(place), (serve) => serve.stop).pipe(Effect.scoped)
        writeTo(
          place,
          `INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
           WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
           SELECT '', 'p' || i, 'p' || i, 'Active', '{"a":"' || printf('%03500d', i) || '"}', 'ContactApi', 1 FROM n;
           PRAGMA wal_checkpoint(TRUNCATE)`
        )
        const bytes = readFileSync(place.filename)
        assert.isAbove(bytes.length, 64 * 1024 * 1024)
        const found = bytes.indexOf("0000000000000019000")
        const start = Math.floor(found / page) * page
        writeFileSync(place.filename, bytes.fill(0, start - 20 * page, start + 20 * page))
        chmodSync(place.filename, 0o600)
        const serve = yield* killableServe(place)
        assert.strictEqual((yield* askServe(serve, "GET", "/contacts?limit=10")).status, 200)
        const answer = yield* askServe(serve, "GET", "/contacts?limit=1000&offset=18500")
        assert.strictEqual(answer.status, 503, answer.text)
        const copy = join(place.folder, "copy.db")
        const backup = yield* runRoster(place, ["backup", copy])
        assert.strictEqual(backup.code, 8)
        assert.include(backup.stderr, `${place.filename} is damaged`)
        assert.include(backup.stderr, "roster restore FILE")
        assert.deepStrictEqual(
          readdirSync(place.folder).filter((name) => name.startsWith("copy.db")),
          []
        )
        yield* serve.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})
