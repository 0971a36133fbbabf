/**
 * S62 A disk that fails: what could not be synced is not acknowledged, a sync that succeeds later is not believed, and
 * nothing that was acknowledged is lost, whatever happens then.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { brokenCalls } from "./power-loss/BrokenCalls.ts"
import { lookAt } from "./power-loss/FoundStore.ts"
import { askServe, killableServe, servePlace } from "./KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { powerLossTrial } from "./power-loss/PowerLossTrial.ts"
import { assertWhole } from "./StoreLook.ts"
import { canTrace } from "./power-loss/Strace.ts"
import { plannedWriterFile } from "./PlannedWriterFile.ts"

const last = amount({ ci: 12, long: 60 })
const share = amount({ ci: 0.1, long: 0.5 })

/** How many calls of each kind a run makes before its first transaction, and in all. */
const countCalls = Effect.gen(function* () {
  const { run } = yield* powerLossTrial({ writer: yield* plannedWriterFile, random: Math.random })
  const { events } = yield* run({ first: 1, last, share: 0 })
  const first = events.findIndex((event) => event._tag === "Said")
  const count = (tag: "Sync" | "Write") => {
    const all = events.flatMap((event, index) => (event._tag === tag ? [index] : []))
    return { before: all.filter((index) => index < first).length, all: all.length }
  }
  // The last sync before a transaction is said to be done.
  const commits = events.flatMap((event, index) =>
    event._tag === "Said" && event.text.startsWith("done ")
      ? [events.slice(0, index).filter(({ _tag }) => _tag === "Sync").length]
      : []
  )
  return { syncs: count("Sync"), writes: count("Write"), commits }
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

let counted: Effect.Success<typeof countCalls> | undefined

const calls = Effect.suspend(() => (counted === undefined ? countCalls : Effect.succeed(counted))).pipe(
  Effect.tap((counts) =>
    Effect.sync(() => {
      counted = counts
    })
  )
)

describe.skipIf(!canTrace)("S.5 a disk that fails, which needs strace", () => {
  it.live.each([
    ["once, and is killed", "", "kill", amount({ ci: 1, long: 10 })],
    ["from then on, and is killed", "+", "kill", amount({ ci: 1, long: 10 })],
    ["from then on, and ends", "+", "close", amount({ ci: 1, long: 10 })]
  ] as const)(
    "S62 a process whose sync fails %s: it acknowledges nothing more, and nothing acknowledged is lost after a restart",
    ([, more, end, places]) =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed(`S62 fsync${more} ${end}`))
        const { commits: likely, syncs } = yield* calls
        const { all, before } = syncs
        const commits: Array<number> = []
        // Which of them is a commit is not the same in each run; one has to be.
        for (let place = 0; place < places || (commits.length === 0 && place < places + 6); place++) {
          // Some of those that are likely to be one, and then any.
          const one = place < 3 ? likely[Math.floor(random() * (likely.length - 2))] : undefined
          const when = one ?? before + 1 + Math.floor(random() * (all - before - 4))
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { filename, losses, oracle, run } = yield* powerLossTrial({
                writer: yield* plannedWriterFile,
                random
              })
              const inject = [`fsync:error=EIO:when=${when}${more}`, `fdatasync:error=EIO:when=${when}${more}`]
              const broken = yield* run({ first: 1, last, end, inject, share })
              assert.strictEqual(broken.exitCode, end === "kill" ? 137 : 0, broken.stderr)
              assert.isTrue(broken.events.some((event) => event._tag === "Sync" && !event.ok))
              assert.match(broken.stdout, /^reads \d+$/m)
              const [unknown] = oracle.unknown
              // Where it was a checkpoint that failed, what it read is still in the WAL, and it is made anew.
              if (unknown !== undefined) {
                commits.push(unknown)
                assert.deepStrictEqual(oracle.unknown, [unknown])
                assert.deepStrictEqual(oracle.refused.length, last - unknown)
                assert.strictEqual(oracle.done.length, unknown - 1)
                assert.include(broken.stdout, "may have carried out the request")
                if (unknown < last)
                  assert.include(
                    broken.stdout,
                    "check the disk and restart the service. Nothing of this request was kept."
                  )
              }
              const { done } = oracle
              const before = done.length
              // What the first left in the WAL stays there.
              const whole = yield* run({
                first: 101,
                last: 106,
                end: "kill",
                share,
                settings: ["wal_autocheckpoint = 0"]
              })
              assert.strictEqual(whole.exitCode, 137, whole.stderr)
              assert.strictEqual(done.length, before + 6)
              assert.deepStrictEqual(losses, [], `fsync ${when}${more}`)
              const found = lookAt(filename)
              assert.isTrue("content" in found && oracle.allows(found.content))
            })
          )
        }
        assert.isAbove(commits.length, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    longRun ? 60 * 60_000 : 120_000
  )

  it.live.each([
    ["once", "", amount({ ci: 1, long: 10 })],
    ["from then on", "+", amount({ ci: 1, long: 10 })]
  ] as const)(
    "S62 a write that fails %s: it is refused, and nothing acknowledged is lost",
    ([, more, places]) =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed(`S62 pwrite64${more}`))
        const { all, before } = (yield* calls).writes
        const refusals: Array<unknown> = []
        // A write to the file by a checkpoint is made again, and refuses nothing.
        for (let place = 0; place < places || (refusals.length === 0 && place < places + 6); place++) {
          // The shared memory is written too, and not counted.
          const when = before + 10 + Math.floor(random() * (all - before - 10))
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { losses, oracle, run } = yield* powerLossTrial({ writer: yield* plannedWriterFile, random })
              const inject = [`pwrite64:error=EIO:when=${when}${more}`]
              const broken = yield* run({ first: 1, last, end: "kill", inject, share })
              assert.strictEqual(broken.exitCode, 137, broken.stderr)
              assert.strictEqual(oracle.done.length + oracle.refused.length, last)
              refusals.push(...oracle.refused)
              const before = oracle.done.length
              yield* run({ first: 101, last: 106, share })
              assert.strictEqual(oracle.done.length, before + 6)
              assert.deepStrictEqual(losses, [], `pwrite64 ${when}${more}`)
            })
          )
        }
        assert.isNotEmpty(refusals)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    longRun ? 60 * 60_000 : 120_000
  )

  it.live.each([
    ["the write whose sync failed", undefined],
    ["the write with a key whose sync failed", "a-key"]
  ] as const)(
    "S62 over HTTP: %s is a 500, each later one a 503, reading goes on, until a restart",
    ([, key]) =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place)
        const add = (email: string, key?: string) => askServe(serve, "POST", "/contacts", [{ Email: email }], key)
        assert.strictEqual((yield* add("before@example.com")).status, 200)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* brokenCalls(serve.pid, "fsync,fdatasync:error=EIO")
            const failed = yield* add("failed@example.com", key)
            assert.strictEqual(failed.status, 500)
            assert.include(failed.text, "may have carried out the request")
          })
        )
        // The disk works again, which proves nothing about what it lost.
        const later = yield* add("later@example.com")
        assert.deepStrictEqual([later.status, Object.keys(JSON.parse(later.text))], [503, ["Error"]])
        assert.include(later.text, "restart the service")
        assert.strictEqual((yield* askServe(serve, "GET", "/contacts/before@example.com")).status, 200)
        assert.strictEqual((yield* askServe(serve, "GET", "/contacts/later@example.com")).status, 404)
        yield* serve.stop
        const again = yield* killableServe(place)
        const restarted = yield* askServe(again, "POST", "/contacts", [{ Email: "later@example.com" }])
        assert.strictEqual(restarted.status, 200, restarted.text)
        assert.strictEqual((yield* askServe(again, "GET", "/contacts/before@example.com")).status, 200)
        yield* again.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )
})
