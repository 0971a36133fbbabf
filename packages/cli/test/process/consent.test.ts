import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { failure, jsonOf, makeLocalRoster, makeRoster } from "../roster.ts"
import { fakeService } from "../service.ts"

describe("what takes something away", () => {
  it.live("K13 is declined without a terminal, and nothing is sent", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const { env, requests } = yield* fakeService((_, response) => response.writeHead(500).end())
      for (const args of [
        ["contacts", "delete", "ann@example.com"],
        ["contacts", "delete", "ann@example.com", "bob@example.com"],
        ["contacts", "delete", "--rule", "status = Bounced"],
        ["contacts", "delete", "--rule", "All"],
        ["contacts", "delete", "--raw-rule", "status = Bounced"],
        ["apikeys", "delete", "ci"],
        ["smtp", "delete", "shop@example.com"]
      ]) {
        // An answer that comes by a pipe is nobody's.
        const declined = yield* run(args, { env, input: "y\nyes\n" })
        assert.deepStrictEqual([declined.code, declined.stdout], [3, ""], args.join(" "))
        assert.strictEqual(failure(declined).code, "Declined")
        assert.match(failure(declined).hint, /--yes/)
      }
      assert.deepStrictEqual(requests, [])
    })
  )

  it.live("K13 is refused for a rule that is blank, whatever else is said", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRoster
      yield* run(["contacts", "add", "ann@example.com"])
      for (const rule of ["", " ", "\t\n", "\u00a0"]) {
        for (const flag of ["--rule", "--raw-rule"]) {
          const local = yield* run(["contacts", "delete", flag, rule, "--yes"])
          assert.strictEqual(local.code, 2, JSON.stringify([flag, rule, local.stderr]))
        }
      }
      assert.strictEqual(jsonOf<ReadonlyArray<unknown>>(yield* run(["contacts", "list"])).length, 1)
    })
  )
})
