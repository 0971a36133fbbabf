import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { failure, jsonOf, makeRoster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const canary = "canary-7c1d9e52f0"

describe("a key", () => {
  it.live("that is wrong is a failure of its own, and stands in no output", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const { address, key } = yield* serveWithKey(folder)
      const env = { ROSTER_BASE_URL: address, ROSTER_API_KEY: canary }
      for (const args of [
        ["contacts", "list"],
        ["apikeys", "list", "-o", "table"],
        ["contacts", "import", "-"]
      ]) {
        const refused = yield* run(args, { env, input: "Email\nann@example.com\n" })
        assert.strictEqual(refused.code, 4, args.join(" "))
        assert.notInclude(refused.stdout + refused.stderr, canary)
      }
      const wrong = yield* run(["contacts", "list"], { env })
      assert.strictEqual(failure(wrong).code, "Unauthorized")

      // A good key that may not do this is refused with the level that it lacks.
      const own = { ROSTER_BASE_URL: address, ROSTER_API_KEY: key }
      const created = yield* run(["apikeys", "create", "reader", "--access", "ViewContacts"], { env: own })
      const { Token } = jsonOf<{ Token: string }>(created)
      const reader = { ROSTER_BASE_URL: address, ROSTER_API_KEY: Token }
      assert.strictEqual((yield* run(["contacts", "list"], { env: reader })).code, 0)
      const denied = yield* run(["contacts", "add", "ann@example.com"], { env: reader })
      assert.deepStrictEqual([denied.code, failure(denied).code], [4, "AccessDenied"])
      assert.include(failure(denied).message, "ModifyContacts")
      for (const { stderr, stdout } of [created, denied, yield* run(["apikeys", "list"], { env: own })]) {
        assert.notInclude(stdout + stderr, key)
      }
      assert.notInclude(denied.stderr, Token)
    })
  )

  it.live("stands in no output of a failure, whatever fails", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      writeFileSync(join(folder, "key"), `${canary}\n`)
      writeFileSync(join(folder, "two.key"), `${canary}\n${canary}\n`)
      const { env } = yield* fakeService((request, response) => {
        if (request.url?.includes("offset=1") === true) return request.socket.destroy()
        return response.writeHead(400, { "Content-Type": "application/json" }).end('{"Error":"No."}')
      })
      const url = env.ROSTER_BASE_URL
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, number]> = [
        [["contacts", "list", "--base-url", url, "--api-key-file", "key"], 7],
        [["contacts", "list", "--base-url", url, "--api-key-file", "key", "--offset", "1"], 8],
        [["contacts", "list", "--base-url", url, "--api-key-file", "two.key"], 4],
        [["contacts", "list", "--base-url", "http://127.0.0.1:9/v4", "--api-key-file", "key"], 8],
        [["contacts", "list", "--base-url", url, "--api-key-file", "key", "--api-key-header", "a b"], 2],
        [["contacts", "list", "--api-key-file", "key"], 2],
        [["--api-key", canary, "contacts", "list"], 2],
        [["contacts", "list", `--api-key=${canary}`], 2],
        [["contacts", "lst", "--api-key", canary], 2]
      ]
      for (const [index, [args, code]] of cases.entries()) {
        const failed = yield* run([...args, "-o", index % 2 === 0 ? "table" : "json"])
        assert.strictEqual(failed.code, code, `${args.join(" ")}: ${failed.stderr}`)
        assert.notInclude(failed.stdout + failed.stderr, canary, args.join(" "))
      }
    })
  )
})
