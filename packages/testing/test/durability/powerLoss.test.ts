/**
 * S59 What was acknowledged is there after the power was lost at any moment, and nothing is there by halves. The writes of
 * a process are traced, and the disk is replayed from the trace.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { SqlServices } from "@roster/server"
import { Effect, Layer } from "effect"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { powerLossTrial } from "./power-loss/PowerLossTrial.ts"
import { canTrace } from "./power-loss/Strace.ts"
import { plannedWriterFile } from "./PlannedWriterFile.ts"

const transactions = amount({ ci: 25, long: 400 })

const openService = (filename: string) => Effect.scoped(Layer.build(SqlServices.layer({ filename })))

describe.skipIf(!canTrace)("S.5 power loss, which needs strace", () => {
  it.live(
    `S59 ${transactions} transactions, the power lost at every moment: every acknowledged one is there, no other by halves`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S59"))
        const reopen = { share: longRun ? 0.05 : 0.03, open: openService }
        const { counts, losses, oracle, run } = yield* powerLossTrial({
          writer: yield* plannedWriterFile,
          random,
          reopen
        })
        const { exitCode, stderr } = yield* run({ first: 1, last: transactions, share: longRun ? 1 : 0.15 })
        assert.strictEqual(exitCode, 0, stderr)
        assert.strictEqual(oracle.done.length, transactions)
        assert.deepStrictEqual(losses, [])
        const { count, distinct, events, reopened } = counts()
        process.stdout.write(
          `S59: ${count} crashes at ${events} moments, ${distinct} unlike each other, ${reopened} opened by the service: ` +
            `0 of ${transactions} acknowledged transactions lost\n`
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    longRun ? 60 * 60_000 : 120_000
  )

  it.live.each(["OFF", "NORMAL"])(
    "S59 the replay sees the loss where a store is told synchronous = %s",
    (synchronous) =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S59"))
        const { losses, run } = yield* powerLossTrial({ writer: yield* plannedWriterFile, random })
        yield* run({ first: 1, last: 14, settings: [`synchronous = ${synchronous}`], share: 0.2 })
        assert.isTrue(losses.some(({ crash, found }) => crash === "dropped" && "content" in found))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
