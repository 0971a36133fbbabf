import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { serveProcess, ServeProcessFailed } from "../src/index.ts"

describe("roster serve", () => {
  it.live(
    "writes its key once, listens, answers, and ends by SIGTERM with exit code 0",
    () =>
      Effect.gen(function* () {
        const fileSystem = yield* FileSystem.FileSystem
        const printed = yield* Effect.scoped(
          Effect.gen(function* () {
            const { apiKey, baseUrl, keyFile, output } = yield* serveProcess()
            assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:\d+\/v4$/)
            const file = yield* fileSystem.readFileString(keyFile)
            assert.strictEqual(file, `${Redacted.value(apiKey)}\n`)
            assert.strictEqual((yield* fileSystem.stat(keyFile)).mode & 0o777, 0o600)
            const response = yield* Effect.promise(() =>
              fetch(`${baseUrl}/contacts`, { headers: { "X-Service-ApiKey": Redacted.value(apiKey) } })
            )
            assert.strictEqual(response.status, 200)
            assert.deepStrictEqual(yield* Effect.promise(() => response.json()), [])
            // Nothing but what it serves and where, and the key in no line.
            // They come by two pipes, in either order.
            const [first, last, served = "", ...rest] = output().split("\n").sort()
            assert.match(served, /^roster \S+ serves \S+\.db \(\d+ bytes\), without TLS\./)
            assert.deepStrictEqual([first, last, ...rest], ["", `listening on ${baseUrl}`])
            assert.notInclude(output(), Redacted.value(apiKey))
            return output
          })
        )
        assert.notMatch(printed(), /error/i)
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live("is the program that it is given", () =>
    Effect.gen(function* () {
      const script = "console.error(process.argv.slice(1, 4).join(' ')); process.exit(3)"
      const failed = yield* Effect.flip(serveProcess({ program: [process.execPath, "--eval", script, "mine"] }))
      assert.instanceOf(failed, ServeProcessFailed)
      assert.strictEqual(failed.exitCode, 3)
      assert.include(failed.output, "mine serve --port")
      const missing = yield* Effect.flip(serveProcess({ program: ["no-such-roster"] }))
      assert.instanceOf(missing, ServeProcessFailed)
      assert.include(missing.message, "There is no program no-such-roster. Install @roster/cli, or give the program.")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
