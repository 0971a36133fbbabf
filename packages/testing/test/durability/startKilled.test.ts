/**
 * K19 The first start on a store, killed at each of its steps: the next start heals it by itself. A store of an earlier
 * version is brought up to date in the same way.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { SqliteClient } from "@roster/server"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { latestMigration, migrateTo } from "../../../server/src/store/Migrations.ts"
import { askServe, killableServe, type ServePlace, servePlace } from "./KillableServe.ts"
import { type KillingCall, killedStart } from "./KilledStart.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { canTrace } from "./power-loss/Strace.ts"
import { assertWhole, countOf, rowsOf } from "./StoreLook.ts"

const timeout = longRun ? 60 * 60_000 : 60_000

const Names = Schema.fromJsonString(Schema.Array(Schema.Struct({ Name: Schema.String })))

/** That a start without a fault hands over the one key of the store, if none did before, and leaves nothing else. */
const heals = Effect.fnUntraced(function* (place: ServePlace, about: string) {
  const serve = yield* killableServe(place)
  assert.strictEqual(readFileSync(place.keyFile, "utf8"), `${serve.apiKey}\n`, about)
  assert.strictEqual(statSync(place.keyFile).mode & 0o777, 0o600, about)
  const listed = yield* askServe(serve, "GET", "/security/apikeys")
  assert.strictEqual(listed.status, 200, `${about}: ${listed.text}`)
  const keys = yield* Schema.decodeEffect(Names)(listed.text)
  assert.deepStrictEqual(keys, [{ Name: "administrator" }], about)
  assert.deepStrictEqual(
    readdirSync(place.folder).filter((name) => name.includes(".key") || name.endsWith(".new")),
    [],
    about
  )
  yield* serve.stop
  assertWhole(place, about)
}, Effect.scoped)

/** The calls to kill at: all of them one by one, up to the one that is not reached, or a sample. */
const everyStep = <E, R>(
  sample: ReadonlyArray<KillingCall>,
  trial: (at: KillingCall) => Effect.Effect<boolean, E, R>
): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    let killed = 0
    if (!longRun) {
      for (const at of sample) if (yield* trial(at)) killed++
      return killed
    }
    for (const on of ["store", "key"] as const) {
      for (const call of ["openat", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "unlink"]) {
        for (let number = 1; yield* trial({ on, call, number }); number++) killed++
      }
    }
    return killed
  })

describe.skipIf(!canTrace)("the first start, which needs strace", () => {
  it.live(
    "K19 killed at any step, it leaves what the next one makes one working key of",
    () =>
      Effect.gen(function* () {
        const found = new Set<string>()
        const killed = yield* everyStep(
          [
            { on: "key", call: "fsync", number: 1 },
            { on: "key", call: "rename", number: 1 }
          ],
          (at) =>
            Effect.gen(function* () {
              const about = `killed at ${at.call} ${at.number} of the ${at.on}`
              const place = yield* servePlace
              const isKilled = yield* killedStart(place, at)
              const keys = existsSync(place.filename) && isKilled ? safeCount(place) : 0
              found.add(`${keys} keys, ${existsSync(place.keyFile) ? "a" : "no"} file`)
              yield* heals(place, about)
              return isKilled
            }).pipe(Effect.scoped)
        )
        process.stdout.write(`K19: ${killed} starts killed, all healed; found after them: ${[...found].join("; ")}\n`)
        assert.isAtLeast(killed, amount({ ci: 2, long: 50 }))
        // The key was committed, and its file had no content yet.
        assert.include([...found].join(), "1 keys")
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  const Contact = Schema.Struct({ identity: Schema.String })
  const Latest = Schema.Struct({ latest: Schema.Int })

  it.live(
    "K19 killed at any step of bringing a store up to date, the next one goes on, and nothing is lost",
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("K19 migrations"))
        const emails = Array.from({ length: 50 }, (_, index) => ({ identity: `p${index}@example.com` }))
        const versions = new Set<number>()
        const killed = yield* everyStep(
          [{ on: "store", call: "pwrite64", number: 1 + Math.floor(random() * 60) }],
          (at) =>
            Effect.gen(function* () {
              const about = `killed at ${at.call} ${at.number} of the ${at.on}`
              const place = yield* servePlace
              const { filename } = place
              yield* Effect.gen(function* () {
                const sql = yield* SqlClient.SqlClient
                yield* migrateTo(5)
                for (const { identity } of emails) {
                  yield* sql`
                    INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
                    VALUES ('', ${identity}, ${identity}, 'Active', '{}', 'ContactApi', 1)`
                }
              }).pipe(Effect.provide(SqliteClient.layer({ filename })), Effect.scoped)
              const isKilled = yield* killedStart(place, at)
              versions.add(rowsOf(place, Latest, "SELECT max(migration_id) AS latest FROM migrations")[0]?.latest ?? 0)
              assertWhole(place, about)
              yield* heals(place, about)
              assert.deepStrictEqual(rowsOf(place, Contact, "SELECT identity FROM contacts ORDER BY id"), emails, about)
              assert.strictEqual(
                rowsOf(place, Latest, "SELECT max(migration_id) AS latest FROM migrations")[0]?.latest,
                latestMigration
              )
              return isKilled
            }).pipe(Effect.scoped)
        )
        process.stdout.write(
          `K19: ${killed} starts killed; found the migrations ${[...versions].toSorted().join(", ")}\n`
        )
        assert.isAtLeast(killed, 1)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})

/** The administrator keys of a store, if it has its tables. */
const safeCount = (place: ServePlace): number => {
  try {
    return countOf(place, "credentials")
  } catch {
    return 0
  }
}
