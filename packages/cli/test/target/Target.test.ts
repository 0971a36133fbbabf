import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runHere } from "../inProcess.ts"
import { failure, temporaryFolder } from "../roster.ts"

const url = "http://127.0.0.1:9/v4"

describe("half of a remote service", () => {
  it.live("is refused, and nothing is opened in its place", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const db = join(folder, "a.db")
      const empty = join(folder, "empty.key")
      writeFileSync(empty, "\n")
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, Record<string, string>, number, string]> = [
        [["--base-url", url], {}, 4, "MissingKey"],
        [[], { ROSTER_BASE_URL: url }, 4, "MissingKey"],
        [["--base-url", url], { ROSTER_API_KEY: "" }, 4, "MissingKey"],
        [["--base-url", url, "--api-key-file", empty], {}, 4, "MissingKey"],
        [["--base-url", url], { ROSTER_API_KEY: "two words" }, 4, "InvalidSettings"],
        [["--base-url", url, "--api-key-file", join(folder, "absent.key")], {}, 2, "FileProblem"],
        [["--base-url", url, "--api-key-file", folder], {}, 2, "FileProblem"],
        [["--base-url", "http://127.0.0.1:9"], { ROSTER_API_KEY: "k" }, 2, "InvalidSettings"],
        [[], { ROSTER_API_KEY: "k" }, 2, "UsageError"],
        [["--db", db], { ROSTER_API_KEY: "k" }, 2, "UsageError"],
        [["--base-url", url, "--db", db], { ROSTER_API_KEY: "k" }, 2, "UsageError"],
        [["--base-url", url], { ROSTER_API_KEY: "k", ROSTER_DB: db }, 2, "UsageError"]
      ]
      for (const [args, env, code, tag] of cases) {
        const refused = yield* runHere(["contacts", "list", ...args], { env: { HOME: folder, ...env } })
        assert.deepStrictEqual([refused.code, refused.stdout, failure(refused).code], [code, "", tag], args.join(" "))
      }
      assert.deepStrictEqual(readdirSync(folder), ["empty.key"])
    })
  )

  it.live("is not completed by reading standard input twice", () =>
    Effect.gen(function* () {
      const args = ["contacts", "import", "-", "--base-url", url, "--api-key-file", "-"]
      const twice = yield* runHere(args, { env: { ROSTER_API_KEY: "k" } })
      assert.strictEqual(twice.code, 2)
    })
  )
})

describe("a store that cannot be used", () => {
  it.live("is unavailable, and left as it is", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const damaged = join(folder, "damaged.db")
      writeFileSync(damaged, "this is no database, and long enough to be taken for one".repeat(100))
      for (const [db, tag] of [
        [damaged, "StoreDamaged"],
        [join(folder, "absent", "a.db"), "StoreUnavailable"]
      ] as const) {
        const refused = yield* runHere(["contacts", "list", "--db", db])
        assert.deepStrictEqual([refused.code, refused.stdout, failure(refused).code], [8, "", tag])
      }
    })
  )
})
