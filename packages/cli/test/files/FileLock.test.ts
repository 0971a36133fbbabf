import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { withLock } from "../../src/files/FileLock.ts"
import { temporaryFolder } from "../roster.ts"

const once = { schedule: Schedule.recurs(1), message: "taken" }

/** A process that has ended. */
const deadPid = () => spawnSync(process.execPath, ["--version"]).pid

describe("the lock of a file", () => {
  it.live("is taken over from a process of this machine that has ended, and from no other", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "file")
      const lock = `${file}.lock`
      const take = withLock(
        file,
        Effect.sync(() => readFileSync(lock, "utf8")),
        once
      )
      const held = yield* take
      assert.isFalse(existsSync(lock))
      assert.isTrue(held.startsWith(`${process.pid} `), held)
      const here = held.slice(String(process.pid).length)

      const [host = "", ...bootAndScope] = here.trim().split(" ")
      const otherBoot = [process.pid, host, "another-boot", "pid:[1]"].join(" ")
      for (const left of [`${deadPid()}${here}`, otherBoot]) {
        writeFileSync(lock, left)
        assert.strictEqual(yield* take, held, left)
      }
      // A number says nothing about a process of another machine or container on the same disk.
      const elsewhere = [deadPid(), `${host}-2`, ...bootAndScope].join(" ")
      const otherContainer = [deadPid(), host, bootAndScope[0], "pid:[1]"].join(" ")
      for (const other of [elsewhere, otherContainer, String(deadPid()), held, "", "x"]) {
        writeFileSync(lock, other)
        assert.strictEqual((yield* Effect.flip(take)).message, "taken", other)
        assert.strictEqual(readFileSync(lock, "utf8"), other)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
