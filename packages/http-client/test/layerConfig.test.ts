import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Config, ConfigProvider, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as RosterClient from "../src/RosterClient.ts"
import { recording } from "./recording.ts"

describe("make", () => {
  it.effect("makes the services as values, each client with its own address and key", () =>
    Effect.gen(function* () {
      const { layer: transport, sent } = recording()
      const client = (name: string) =>
        RosterClient.make({ baseUrl: `https://${name}.example/v4`, apiKey: Redacted.make(`key-of-${name}`) })
      yield* Effect.gen(function* () {
        const first = yield* client("first")
        const second = yield* client("second")
        yield* first.contacts.list()
        yield* second.credentials.apiKeys.list()
      }).pipe(Effect.provide(transport))
      assert.deepStrictEqual(
        sent.map(({ headers, url }) => [new URL(url).origin, headers["x-service-apikey"]]),
        [
          ["https://first.example", "key-of-first"],
          ["https://second.example", "key-of-second"]
        ]
      )
    })
  )
})

describe("layerConfig", () => {
  const list = Effect.flatMap(ContactsService, (contacts) => contacts.list())
  const from = (
    env: Record<string, string>,
    layer: ReturnType<typeof RosterClient.layerConfig>,
    transport: Layer.Layer<HttpClient.HttpClient>
  ) =>
    list.pipe(
      Effect.provide(Layer.provide(layer, transport)),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )

  it.effect("reads the ROSTER_ variables where nothing is given", () =>
    Effect.gen(function* () {
      const { layer: transport, sent } = recording()
      const env = {
        ROSTER_BASE_URL: "https://roster.example/v4",
        ROSTER_API_KEY: "k",
        ROSTER_API_KEY_HEADER: "X-Other",
        ROSTER_API_KEY_PREFIX: "Bearer "
      }
      yield* from(env, RosterClient.layerConfig(), transport)
      assert.deepStrictEqual(
        sent.map(({ headers }) => headers["x-other"]),
        ["Bearer k"]
      )
      const missing = yield* Effect.flip(from({}, RosterClient.layerConfig(), transport))
      assert.strictEqual(missing._tag, "InvalidSettings")
      assert.strictEqual(missing.message, "The setting ROSTER_BASE_URL (baseUrl) is not set.")
    })
  )

  it.effect("names the first variable of an option that is missing, and the one whose text is refused", () =>
    Effect.gen(function* () {
      const { layer: transport, sent } = recording()
      const { BILLING_KEY, billing_url } = fine
      for (const [env, message] of [
        [{ BILLING_KEY }, "The setting billing_url (baseUrl) is not set."],
        [{ billing_url }, "The setting BILLING_KEY (apiKey) is not set."]
      ] as const) {
        const missing = yield* Effect.flip(from(env, RosterClient.layerConfig(own), transport))
        assert.deepStrictEqual([missing._tag, missing.message], ["InvalidSettings", message])
      }
      const odd = yield* Effect.flip(
        from({ ...fine, BILLING_ATTEMPTS: "many" }, RosterClient.layerConfig(own), transport)
      )
      assert.strictEqual(odd._tag, "InvalidSettings")
      assert.match(odd.message, /^The setting BILLING_ATTEMPTS \(retry\.attempts\) cannot be used: expected /)
      const strict = {
        ...own,
        apiKey: Config.schema(Schema.Redacted(Schema.String.check(Schema.isMinLength(20))), "BILLING_KEY")
      }
      const short = yield* Effect.flip(
        from({ ...fine, BILLING_KEY: "hidden" }, RosterClient.layerConfig(strict), transport)
      )
      assert.strictEqual(short.message, "The setting BILLING_KEY (apiKey) cannot be used: its text is refused.")
      assert.notInclude(inspect(short), "hidden")
      const all = Config.all({ baseUrl: Config.String("ONE_URL") })
      assert.strictEqual((yield* Effect.flip(from({}, RosterClient.layerConfig(all), transport)))._tag, "ConfigError")
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("takes a Config for each option, nested and undefined ones too", () =>
    Effect.gen(function* () {
      const { layer: transport, sent } = recording(500)
      const layer = RosterClient.layerConfig({
        baseUrl: Config.String("BILLING_URL"),
        apiKey: undefined,
        allowInsecure: Config.succeed(true),
        retry: { attempts: Config.Int("BILLING_ATTEMPTS") }
      })
      const running = yield* Effect.forkChild(
        Effect.exit(from({ BILLING_URL: "http://roster.example/v4", BILLING_ATTEMPTS: "2" }, layer, transport))
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(running)
      assert.strictEqual(sent.length, 2)
    })
  )

  const own = {
    baseUrl: Config.String("url").pipe(Config.nested("billing")),
    apiKey: Config.Redacted("BILLING_KEY").pipe(Config.orElse(() => Config.Redacted("SHARED_KEY"))),
    retry: { attempts: Config.Int("BILLING_ATTEMPTS").pipe(Config.withDefault(3)) }
  }
  const fine = { billing_url: "https://roster.example/v4", BILLING_KEY: "k" }

  it.effect.each<readonly [string, Record<string, string>, string, string | undefined]>([
    ["the default one", { ...fine, BILLING_KEY: "two words" }, "apiKey", "BILLING_KEY"],
    ["a nested one", { ...fine, billing_url: "roster.example" }, "baseUrl", "billing_url"],
    ["the one that was set of two", { billing_url: fine.billing_url, SHARED_KEY: "two words" }, "apiKey", "SHARED_KEY"],
    ["one of a part", { ...fine, BILLING_ATTEMPTS: "0" }, "retry.attempts", "BILLING_ATTEMPTS"]
  ])("names the variable that was set, and no key: %s", ([, env, setting, variable]) =>
    Effect.gen(function* () {
      const { layer: transport, sent } = recording()
      const refused = yield* Effect.flip(from(env, RosterClient.layerConfig(own), transport))
      assert.strictEqual(refused._tag, "InvalidSettings")
      if (refused._tag !== "InvalidSettings") return
      assert.deepStrictEqual([refused.setting, refused.variable], [setting, variable])
      assert.include(refused.message, `${variable} (${setting})`)
      assert.notInclude(inspect(refused), "two words")
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("names the setting alone where the value is a default, or where one Config has all options", () =>
    Effect.gen(function* () {
      const { layer: transport } = recording()
      const bad = { baseUrl: "nowhere" }
      for (const options of [
        { baseUrl: Config.String("URL").pipe(Config.withDefault(bad.baseUrl)) },
        Config.succeed(bad)
      ]) {
        const refused = yield* Effect.flip(from({}, RosterClient.layerConfig(options), transport))
        assert.strictEqual(refused._tag, "InvalidSettings")
        assert.notProperty(refused, "variable")
        assert.include(refused.message, "The setting baseUrl cannot be used")
      }
    })
  )
})
