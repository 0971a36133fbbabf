import { assert, describe, it } from "@effect/vitest"
import { ContactNotFound, Rejected, ServiceError } from "@roster/domain"
import { Duration, Effect, Exit, PlatformError } from "effect"
import { toExitCode } from "../../src/main/ErrorReporter.ts"
import type { Failure } from "../../src/main/ExitCode.ts"
import { usageError } from "../../src/errors/UsageError.ts"
import { Output } from "../../src/terminal/Output.ts"
import { TimeLimitReached, withTimeout } from "../../src/target/TimeLimit.ts"

const run = (command: Effect.Effect<void, Failure>, format: "table" | "json" = "table") => {
  let stderr = ""
  const note = (words: string) =>
    Effect.sync(() => {
      stderr += `${words}\n`
    })
  const write = () => Effect.die("stdout is for results")
  const output = Output.of({
    format,
    isTerminal: false,
    width: undefined,
    write,
    note,
    noteTarget: note,
    ask: note,
    noteExactly: note
  })
  return toExitCode(command).pipe(
    Effect.provideService(Output, output),
    Effect.map((code) => ({ code, stderr }))
  )
}

const writing = (cause: unknown) =>
  PlatformError.systemError({ _tag: "Unknown", module: "Output", method: "stdout", description: "write failed", cause })

describe("the failure boundary", () => {
  it.effect("prints expected errors as text or as one line of JSON", () =>
    Effect.gen(function* () {
      const missing = Effect.fail(new ContactNotFound({ email: "ann\u001b[2J@example.com" }))
      const words = yield* run(missing)
      assert.strictEqual(words.code, 5)
      assert.match(words.stderr, /^error: There is no contact ann/)
      const asJson = yield* run(missing, "json")
      assert.deepStrictEqual(JSON.parse(asJson.stderr), {
        code: "ContactNotFound",
        message: "There is no contact ann\u001b[2J@example.com.",
        hint: "List the contacts with: roster contacts list"
      })
    })
  )

  it.effect("says the request id of an answer, for the support of the service", () =>
    Effect.gen(function* () {
      const reason = new Rejected({ status: 418, detail: "no" })
      const failed = Effect.fail(new ServiceError({ operation: "contactsGet", reason, requestId: "req-7\u001b[2J" }))
      assert.match((yield* run(failed)).stderr, /\n {2}Request id: req-7/)
      assert.notInclude((yield* run(failed)).stderr, "\u001b")
      assert.strictEqual(JSON.parse((yield* run(failed, "json")).stderr).requestId, "req-7\u001b[2J")
    })
  )

  it.effect("hides a key in a hint, too", () =>
    Effect.gen(function* () {
      const key = "F5D1E3C0A97B48629D1FA0C2B3E4D5F60718293A4B5C6D7E"
      const failed = Effect.fail(usageError("The command printed no key.", `Run it yourself: printf ${key}`))
      for (const format of ["table", "json"] as const) {
        const { stderr } = yield* run(failed, format)
        assert.notInclude(stderr, key)
        assert.include(stderr, "Run it yourself: printf …")
      }
    })
  )

  it.effect("calls a bug a bug, without its stack", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* run(Effect.die(new TypeError("x is not a function\n  and more")), "json")
      assert.strictEqual(code, 1)
      const said: { code: string; message: string; hint: string } = JSON.parse(stderr)
      assert.deepStrictEqual([said.code, said.message], ["Bug", "Unexpected: TypeError: x is not a function"])
      assert.match(said.hint, /^This is a bug/)
      assert.strictEqual((yield* run(Effect.die("a text"))).code, 1)
    })
  )

  it.effect("is quiet about a closed pipe, wherever it shows", () =>
    Effect.gen(function* () {
      const closed = writing(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))
      assert.deepStrictEqual(yield* run(Effect.fail(closed)), { code: 141, stderr: "" })
      assert.deepStrictEqual(yield* run(Effect.die(closed)), { code: 141, stderr: "" })
      const full = writing(Object.assign(new Error("write ENOSPC"), { code: "ENOSPC" }))
      assert.deepStrictEqual((yield* run(Effect.die(full))).code, 1)
    })
  )

  it.effect("leaves an interruption to its sender", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(run(Effect.interrupt))
      assert.isTrue(Exit.hasInterrupts(exit))
    })
  )

  it.live("has a code for the end of the time", () =>
    Effect.gen(function* () {
      const late = yield* Effect.flip(Effect.never.pipe(withTimeout(Duration.millis(1))))
      assert.instanceOf(late, TimeLimitReached)
    })
  )
})
