/** A run of the tests ends with 0 only if all of them passed, and leaves nothing behind. */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll } from "vitest"
import { startedIn } from "../RunFolder.ts"

const temporary = mkdtempSync(join(tmpdir(), "roster-gate-"))
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

const { NODE_COMPILE_CACHE, PATH } = process.env

const start = (name: string, env: Readonly<Record<string, string>> = {}) => {
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "scripts/test/gate/vitest.config.ts"]
  return spawn(process.execPath, [...vitest, `${name}.fixture.ts`], {
    env: { PATH, NODE_COMPILE_CACHE, TMPDIR: temporary, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
}

const run = async (name: string, env?: Readonly<Record<string, string>>) => {
  const child = start(name, env)
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { code, output: output + errors }
}

describe("a run of the tests", () => {
  it.each([
    ["a test fails", "fails", /expected 1 to be 2/],
    ["nobody handles a rejection", "rejects", /nobody handles this/],
    ["a file does not load", "doesNotLoad", /this file does not load/],
    ["a worker dies", "dies", /Worker exited unexpectedly|SIGKILL/]
  ])("ends with 1 if %s", async (_, name, reason) => {
    const { code, output } = await run(name)
    assert.strictEqual(code, 1, output)
    assert.match(output, reason)
    assert.match(output, /^\d passed, [1-9]\d* failed/m)
  })

  it("names what it skips, and ends with 1 if it may not skip that", async () => {
    const { code, output } = await run("skips", { ROSTER_REQUIRE_ALL: "1" })
    assert.strictEqual(code, 1, output)
    assert.match(output, /skipped, since .*:\nscripts\/test\/gate\/skips.fixture.ts: needs what is not here\n\n/)
    assert.match(output, /^0 passed, 0 failed, 2 skipped$/m)
  })

  it("ends with 1 if a fault case has not survived", async () => {
    const { code, output } = await run("passes", { ROSTER_RELIABILITY: "check" })
    assert.strictEqual(code, 1, output)
    assert.include(output, "C01 (connecting is refused twice, then works): no test")
  })

  it.skipIf(process.platform !== "linux")(
    "that passes ends with 0, and sweeps what a killed one has left",
    async () => {
      const killed = start("waits")
      await new Promise<void>((resolve, reject) => {
        killed.once("close", reject).stdout.on("data", (part: Buffer) => part.includes("waiting") && resolve())
      })
      const ofNode = startedIn(temporary).filter((pid) => basename(readlinkSync(`/proc/${pid}/exe`)) === "node")
      for (const pid of ofNode) process.kill(pid, "SIGKILL")
      assert.isAtLeast(startedIn(temporary).length, 1)
      assert.strictEqual(readdirSync(temporary).length, 1)
      const { code, output } = await run("passes")
      assert.strictEqual(code, 0, output)
      assert.match(output, /^1 passed, 0 failed$/m)
      assert.deepStrictEqual([readdirSync(temporary), startedIn(temporary)], [[], []])
    }
  )
})
