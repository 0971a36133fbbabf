import { assert, describe, it } from "@effect/vitest"
import { Connection as Settings } from "@roster/connect"
import { ConfigProvider, Effect, Redacted, Result } from "effect"
import { KeySource } from "../../src/settings/ApiKeySource.ts"
import { environment, type GivenEnvironment, type GivenFlags, resolve } from "../../src/settings/Settings.ts"

const key = Redacted.make("secret")
const url = "https://example.com/v4"

const refusal = (flags: GivenFlags, env: GivenEnvironment) => {
  const result = resolve(flags, env)
  return Result.isFailure(result) ? result.failure._tag : "none"
}

describe("settings", () => {
  it("name no service where nothing is given", () => {
    assert.deepStrictEqual(Result.getOrThrow(resolve({}, {})), Settings.Local({ filename: undefined }))
  })

  it("are those of the flags before those of the environment", () => {
    const settings = resolve(
      { baseUrl: url, apiKeyFile: "flag.key", apiKeyHeader: "X-Flag", apiKeyPrefix: "Flag " },
      { baseUrl: "https://other.example/v4", apiKey: key, apiKeyHeader: "X-Env", apiKeyPrefix: "Env " }
    )
    const expected = {
      baseUrl: url,
      key: KeySource.File({ path: "flag.key" }),
      apiKeyHeader: "X-Flag",
      apiKeyPrefix: "Flag "
    }
    assert.deepStrictEqual(Result.getOrThrow(settings), Settings.Remote(expected))
    assert.deepStrictEqual(
      Result.getOrThrow(resolve({ db: "flag.db" }, { db: "env.db" })),
      Settings.Local({ filename: "flag.db" })
    )
  })

  it("are mixed of both where each has a part", () => {
    const settings = Result.getOrThrow(resolve({ baseUrl: url }, { apiKey: key, apiKeyHeader: "X-Env" }))
    const expected = {
      baseUrl: url,
      key: KeySource.Environment({ key }),
      apiKeyHeader: "X-Env",
      apiKeyPrefix: undefined
    }
    assert.deepStrictEqual(settings, Settings.Remote(expected))
  })

  it.each<[string, GivenFlags, GivenEnvironment, string]>([
    ["an address without a key", { baseUrl: url }, {}, "MissingKey"],
    ["an address of the environment without a key", {}, { baseUrl: url }, "MissingKey"],
    ["a key without an address", {}, { apiKey: key }, "UsageError"],
    ["a key file without an address", { apiKeyFile: "key" }, {}, "UsageError"],
    ["a key without an address beside a store file", { db: "a.db" }, { apiKey: key }, "UsageError"],
    ["a header without an address", { apiKeyHeader: "X" }, {}, "UsageError"],
    ["a prefix without an address", {}, { apiKeyPrefix: "Bearer " }, "UsageError"],
    ["an address and a store file", { baseUrl: url, db: "a.db" }, { apiKey: key }, "UsageError"],
    ["an address and a store file of the environment", { baseUrl: url }, { apiKey: key, db: "a.db" }, "UsageError"],
    ["a store file and an address of the environment", { db: "a.db" }, { baseUrl: url, apiKey: key }, "UsageError"]
  ])("are refused: %s", (_, flags, env, tag) => {
    assert.strictEqual(refusal(flags, env), tag)
  })

  it.effect("come from ROSTER_ variables, of which an empty one is none", () =>
    Effect.gen(function* () {
      const env = {
        ROSTER_BASE_URL: url,
        ROSTER_API_KEY: "k",
        ROSTER_API_KEY_HEADER: "X-K",
        ROSTER_API_KEY_PREFIX: "",
        ROSTER_DB: "a.db",
        ROSTER_PROFILE: "work",
        ROSTER_REQUIRE_REMOTE: "true"
      }
      const given = yield* Effect.provideService(
        environment,
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env })
      )
      assert.deepStrictEqual(given, {
        baseUrl: url,
        apiKey: Redacted.make("k"),
        apiKeyHeader: "X-K",
        apiKeyPrefix: undefined,
        db: "a.db",
        profile: "work",
        requireRemote: true
      })
    })
  )

  it("are those of the profile where neither flags nor environment say", () => {
    const profile = { name: "work", baseUrl: url, apiKey: key, apiKeyHeader: "X-Profile" }
    const remote = { baseUrl: url, apiKeyHeader: "X-Profile", apiKeyPrefix: undefined }
    assert.deepStrictEqual(
      Result.getOrThrow(resolve({}, {}, profile)),
      Settings.Remote({ ...remote, key: KeySource.Profile({ name: "work", key }) })
    )
    const other = Redacted.make("other")
    assert.deepStrictEqual(
      Result.getOrThrow(resolve({}, { apiKey: other }, profile)),
      Settings.Remote({ ...remote, key: KeySource.Environment({ key: other }) })
    )
    // A store file that is named is what is meant; nothing of the profile goes there.
    assert.deepStrictEqual(
      Result.getOrThrow(resolve({ db: "a.db" }, {}, profile)),
      Settings.Local({ filename: "a.db" })
    )
  })
})
