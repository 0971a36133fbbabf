import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { withLock } from "../../src/files/FileLock.ts"
import { takeLock } from "@roster/workflows/RunFiles"
import { ended, longRun, temporaryFolder } from "../roster.ts"

const turnsOf = (folder: string, ...args: ReadonlyArray<string>) => {
  const script = fileURLToPath(new URL("lockTurns.ts", import.meta.url))
  return Effect.promise(() => ended(spawn(process.execPath, [script, folder, ...args])))
}

describe("the lock of a file", () => {
  it.live("lets one of many processes in at a time, even if some are killed inside", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      // The lock that a killed command has left.
      writeFileSync(join(folder, "file.lock"), "")
      const turns = longRun ? 4000 : 160
      const args = [[turns], [turns], [turns], [turns / 4, "killed"], [turns / 2, "killed"]]
      const all = yield* Effect.forEach(args, (some) => turnsOf(folder, ...some.map(String)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        all.map(({ code, stdout }) => (code === null ? "killed" : stdout)),
        ["0", "0", "0", "killed", "killed"],
        all.map(({ stderr }) => stderr).join("\n")
      )
      // One of the killed may have been the last.
      takeLock(join(folder, "file.lock"))?.()
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )

  it.effect("refuses another holder after a while, in this process too, and goes with it", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "file")
      const lock = `${file}.lock`
      const take = withLock(file, Effect.succeed("inside"))
      const refused = yield* withLock(
        file,
        Effect.gen(function* () {
          assert.strictEqual(statSync(lock).mode & 0o777, 0o600)
          const waiting = yield* Effect.forkChild(Effect.flip(take))
          yield* TestClock.adjust("10 seconds")
          return yield* Fiber.join(waiting)
        })
      )
      assert.strictEqual(refused.message, `Another command is writing ${file}.`)
      assert.isFalse(existsSync(lock))
      assert.strictEqual(yield* take, "inside")
      assert.isFalse(existsSync(lock))
    })
  )

  it.live("waits for its holder, and is given back by its holder alone", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "file")
      const giveBack = takeLock(`${file}.lock`)
      assert.isUndefined(takeLock(`${file}.lock`))
      assert.isTrue(existsSync(`${file}.lock`))
      const waiting = yield* Effect.forkChild(withLock(file, Effect.succeed("inside")))
      yield* Effect.yieldNow
      giveBack?.()
      assert.strictEqual(yield* Fiber.join(waiting), "inside")
    })
  )

  it.live("is left alone if an older version, which may run, has written into it", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "file")
      writeFileSync(`${file}.lock`, "4242 host boot pid:[1]")
      const { hint, message } = yield* Effect.flip(withLock(file, Effect.void))
      assert.strictEqual(message, `Another command is writing ${file}.`)
      assert.include(hint, "delete it")
      assert.strictEqual(readFileSync(`${file}.lock`, "utf8"), "4242 host boot pid:[1]")
    })
  )
})
