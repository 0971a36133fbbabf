import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { existsSync, openSync, readdirSync } from "node:fs"
import { spawn } from "node:child_process"
import { bin, ended, failure, makeLocalRoster, makeRoster, start } from "../roster.ts"
import { fakeService } from "../service.ts"

describe("streams, signals and time", () => {
  it.live("are quiet when the reader of stdout has seen enough", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRoster
      const rows = Array.from({ length: 3000 }, (_, index) => `c${index}@example.com`)
      yield* run(["contacts", "import", "-"], { input: `Email\n${rows.join("\n")}\n` })
      const child = start(folder, ["contacts", "list", "--all", "--db", "store.db"])
      child.stdout?.once("data", () => child.stdout?.destroy())
      const { code, stderr } = yield* Effect.promise(() => ended(child))
      assert.deepStrictEqual([code, stderr], [141, ""])
      const help = start(folder, ["contacts", "--help"])
      help.stdout?.destroy()
      assert.strictEqual((yield* Effect.promise(() => ended(help))).stderr, "")
    })
  )

  it.live("never call a result written that was not", () =>
    Effect.gen(function* () {
      if (!existsSync("/dev/full")) return
      const { folder, run } = yield* makeLocalRoster
      yield* run(["contacts", "add", "ann@example.com"])
      const child = spawn(process.execPath, [bin, "contacts", "list", "--db", "store.db"], {
        cwd: folder,
        env: { HOME: folder },
        stdio: ["ignore", openSync("/dev/full", "w"), "pipe"]
      })
      const full = yield* Effect.promise(() => ended(child))
      assert.deepStrictEqual([full.code, failure(full).code], [1, "WriteFailed"])
    })
  )

  it.live("end by SIGINT with 130 and by SIGTERM with 143, and leave no part of a file", () =>
    Effect.gen(function* () {
      const { folder } = yield* makeRoster
      for (const [signal, code] of [
        ["SIGINT", 130],
        ["SIGTERM", 143]
      ] as const) {
        let asked = () => {}
        const waiting = new Promise<void>((resolve) => {
          asked = resolve
        })
        // The service never answers, so that the command waits.
        const { env } = yield* fakeService(() => asked())
        const child = start(folder, ["contacts", "export", "--out", "out.csv"], env)
        const exit = once(child, "exit")
        yield* Effect.promise(() => Promise.race([waiting, exit]))
        assert.strictEqual(readdirSync(folder).length, 1)
        child.kill(signal)
        assert.deepStrictEqual(yield* Effect.promise(() => exit), [code, null])
        assert.deepStrictEqual(readdirSync(folder), [])
      }
    })
  )

  it.live("end when the time is over, with 8", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const { env } = yield* fakeService(() => {})
      const late = yield* run(["contacts", "list", "--timeout", "1500ms"], { env })
      assert.deepStrictEqual([late.code, late.stdout, failure(late).code], [8, "", "TimeLimitReached"])
    })
  )

  it.live("print a failure as words or as JSON, as results are printed", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRoster
      yield* run(["contacts", "add", "ann@example.com"])
      const asJson = yield* run(["contacts", "get", "nobody@example.com"])
      assert.match(asJson.stderr, /^\{"code":"ContactNotFound","message":"[^"]+","hint":"[^"]+"\}\n$/)
      const asWords = yield* run(["contacts", "get", "nobody@example.com", "-o", "table"])
      assert.match(asWords.stderr, /^error: There is no contact nobody@example\.com\.\n {2}List /)
    })
  )
})
