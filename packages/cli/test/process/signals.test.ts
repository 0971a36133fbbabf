import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { ended, filesIn, start, temporaryFolder } from "../roster.ts"
import { fakeService } from "../service.ts"

const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6"

/** A service whose export never becomes ready, and the moment at which somebody has looked. */
const endlessExport = Effect.gen(function* () {
  let looked = () => {}
  const waiting = new Promise<void>((resolve) => {
    looked = resolve
  })
  const service = yield* fakeService((request, response) => {
    const isStatus = request.url?.endsWith("/status") === true
    const body = isStatus ? "Loading" : { Link: "http://127.0.0.1:9/v4/x", PublicExportID: id }
    response.writeHead(isStatus ? 200 : 202, { "Content-Type": "application/json" }).end(JSON.stringify(body))
    if (isStatus) response.once("close", looked)
  })
  return { ...service, waiting }
})

describe("a signal while an export waits", () => {
  it.live.each([
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const)("K07 %s ends it with %i, says what is left, and leaves no part of a file", ([signal, code]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { env, requests, waiting } = yield* endlessExport
      const child = start(folder, ["contacts", "export", "--out", "out.csv"], env)
      const done = ended(child)
      yield* Effect.promise(() => Promise.race([waiting, done]))
      const before = requests.length
      child.kill(signal)
      const stopped = yield* Effect.promise(() => done)
      assert.strictEqual(stopped.code, code, stopped.stderr)
      assert.strictEqual(stopped.stdout, "")
      assert.include(stopped.stderr, "nothing was written here")
      assert.deepStrictEqual(filesIn(folder), [])
      // The export is the service's: it is not asked for once more, nor taken back.
      assert.strictEqual(requests.filter((request) => request.startsWith("POST")).length, 1)
      assert.isAtMost(requests.length, before + 1)
    })
  )

  it.live("K07 a second signal does not wait for anything", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { env, waiting } = yield* endlessExport
      const child = start(folder, ["contacts", "export", "--out", "out.csv"], env)
      const exit = once(child, "exit")
      yield* Effect.promise(() => Promise.race([waiting, exit]))
      child.kill("SIGTERM")
      child.kill("SIGINT")
      const [code] = yield* Effect.promise(() => exit)
      assert.include([130, 143], code)
      assert.isFalse(existsSync("out.csv"))
    })
  )
})
