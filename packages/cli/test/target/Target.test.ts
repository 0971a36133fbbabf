import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
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

describe("a setting that a client refuses", () => {
  it.live("is named by its flag, variable or profile", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const config = join(folder, ".config", "roster", "config.json")
      const key = join(folder, "key")
      writeFileSync(key, "two words")
      const profile = { baseUrl: "https://example.com/v4", apiKey: "k", apiKeyHeader: "a b" }
      mkdirSync(dirname(config), { recursive: true, mode: 0o700 })
      writeFileSync(config, JSON.stringify({ profiles: { work: profile } }), { mode: 0o600 })
      const env = { HOME: folder, ROSTER_API_KEY: "k" }
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, Record<string, string>, string]> = [
        [[], { ROSTER_BASE_URL: "ftp://example.com/v4" }, "ROSTER_BASE_URL (baseUrl)"],
        [["--base-url", "ftp://example.com/v4"], { ROSTER_BASE_URL: url }, "--base-url (baseUrl)"],
        [[], { ROSTER_BASE_URL: url, ROSTER_API_KEY_HEADER: "a b" }, "ROSTER_API_KEY_HEADER (apiKeyHeader)"],
        [["--api-key-prefix", "é"], { ROSTER_BASE_URL: url }, "--api-key-prefix (apiKeyPrefix)"],
        [["--profile", "work"], {}, "the profile work (apiKeyHeader)"],
        [[], { ROSTER_BASE_URL: url, ROSTER_API_KEY: "two words" }, "ROSTER_API_KEY (apiKey)"],
        [["--api-key-file", key], { ROSTER_BASE_URL: url }, `${key} (apiKey)`]
      ]
      for (const [args, given, name] of cases) {
        const refused = yield* runHere(["contacts", "list", ...args], { env: { ...env, ...given } })
        assert.include(failure(refused).message, `The setting ${name} cannot be used`, refused.stderr)
      }
      vi.stubEnv("https_proxy", "ftp://proxy.example")
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      for (const args of [
        ["contacts", "list"],
        ["auth", "login"]
      ]) {
        const refused = yield* runHere(args, { env: { ...env, ROSTER_BASE_URL: "https://example.com/v4" }, input: "k" })
        assert.include(failure(refused).message, "The setting https_proxy (proxy) cannot be used", refused.stderr)
      }
      const doctor = yield* runHere(["doctor"], { env: { ...env, ROSTER_BASE_URL: "ftp://example.com/v4" } })
      assert.strictEqual(doctor.code, 8, doctor.stderr)
      assert.match(doctor.stdout, /"Check":"service","Result":"failed","Detail":"The setting [^"]+ cannot be used/)
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
        const refused = yield* runHere(["contacts", "add", "ann@example.com", "--db", db])
        assert.deepStrictEqual([refused.code, refused.stdout, failure(refused).code], [8, "", tag])
      }
    })
  )
})
