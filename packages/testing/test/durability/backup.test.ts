/**
 * S66 A backup made under load holds what was acknowledged before it began, and is there whole or not at all.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { askServe, killableServe, type ServePlace, servePlace } from "./KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { makeWriter, settle, type Writer, writeUntilGone } from "./MixedWrites.ts"
import { runRoster } from "./RosterCommand.ts"
import { assertWhole, fillContacts, seen } from "./StoreLook.ts"

const timeout = longRun ? 30 * 60_000 : 60_000

/** All states that a writer has asked for, and how many of them were acknowledged. */
interface History {
  readonly writer: Writer
  readonly states: Array<Writer["known"]>
  acknowledged: number
}

/** The state of a writer that a store holds, of those that it may hold. */
const stateIn = (place: ServePlace, { states, writer }: History, from: number, to: number): number | undefined => {
  for (let at = from; at <= to; at++) {
    const state = states[at]
    if (state !== undefined && settle(place, { ...writer, known: state, perhaps: undefined }) === undefined) return at
  }
  return undefined
}

describe("S.5 backup under load", () => {
  it.live(
    `S66 what was acknowledged before a backup began is in it, and the backup is whole elsewhere`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S66"))
        const place = yield* servePlace
        const serve = yield* killableServe(place)
        const histories = Array.from({ length: 4 }, (_, index): History => {
          const writer = makeWriter(`w${index}`)
          return { writer, states: [writer.known], acknowledged: 0 }
        })
        const writing = yield* Effect.forkChild(
          Effect.forEach(
            histories,
            (history) =>
              writeUntilGone(serve, history.writer, random, {
                sent: () => {
                  history.states.push(history.writer.perhaps ?? history.writer.known)
                },
                acknowledged: () => {
                  history.acknowledged++
                }
              }),
            { concurrency: "unbounded", discard: true }
          )
        )
        const elsewhere = { ...place, filename: join(place.folder, "elsewhere", "roster.db") }
        mkdirSync(join(place.folder, "elsewhere"))
        let writes = 0
        for (let round = 0; round < amount({ ci: 2, long: 60 }); round++) {
          yield* seen(
            () => histories.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
            (sum) => sum >= writes + 40
          )
          const before = histories.map(({ acknowledged }) => acknowledged)
          const file = join(place.folder, "backup.db")
          const made = yield* runRoster(place, ["backup", file, "--force"])
          assert.strictEqual(made.code, 0, made.stderr)
          const after = histories.map(({ states }) => states.length - 1)
          assert.strictEqual(statSync(file).mode & 0o777, 0o600)
          assert.deepStrictEqual(
            readdirSync(place.folder).filter((name) => name.startsWith("backup.db")),
            ["backup.db"]
          )
          const restored = yield* runRoster(elsewhere, ["restore", file, "--yes"])
          assert.strictEqual(restored.code, 0, restored.stderr)
          assertWhole(elsewhere)
          for (const [index, history] of histories.entries()) {
            const at = stateIn(elsewhere, history, before[index] ?? 0, after[index] ?? 0)
            assert.isDefined(at, `${history.writer.name}: ${before[index]} writes were acknowledged before the backup`)
          }
          writes = histories.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
        }
        serve.killNow()
        yield* Fiber.join(writing)
        // It serves there, too.
        const other = yield* killableServe(elsewhere)
        assert.strictEqual((yield* askServe(other, "GET", "/contacts?limit=5")).status, 200)
        yield* other.stop
        process.stdout.write(`S66: ${writes} writes acknowledged during backups, 0 missing\n`)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  const kills = amount({ ci: 2, long: 100 })
  it.live(
    "S66 a backup that is killed leaves no file under its name",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place)
        fillContacts(place, amount({ ci: 20_000, long: 400_000 }), "Ann")
        const random = seededRandom(runSeed("S66 cut off"))
        let cut = 0
        for (let kill = 0; kill < kills; kill++) {
          const file = join(place.folder, `cut-${kill}.db`)
          // At once, or after so many looks at the file that it writes.
          const looks = Math.floor(random() * 3)
          let seen = 0
          const isWriting = (name: string) => name.startsWith(`cut-${kill}.db.`) && name.endsWith(".partial")
          const killOnce = () => readdirSync(place.folder).some(isWriting) && ++seen > looks
          const { code } = yield* runRoster(place, ["backup", file], { killOnce })
          if (code === 0 || existsSync(file)) assertWhole({ ...place, filename: file })
          else cut++
        }
        assert.isAbove(cut, 0)
        assert.strictEqual((yield* askServe(serve, "GET", "/contacts?limit=1")).status, 200)
        yield* serve.stop
        process.stdout.write(`S66: ${cut} of ${kills} backups were cut off and are not there\n`)
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})
