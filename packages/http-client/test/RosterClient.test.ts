import { assert, describe, it } from "@effect/vitest"
import { ContactsService, TimedOut } from "@roster/domain"
import { SecretFormat } from "@roster/domain/internal"
import { Context, Duration, Effect, Fiber, Layer, Random, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as HttpContactsService from "../src/services/HttpContactsService.ts"
import {
  defaultRetrySettings,
  type PartialRetrySettings,
  RetryPolicy,
  type RetrySettings
} from "../src/calls/RetryPolicy.ts"
import type { ClientOptions } from "../src/calls/ClientOptions.ts"
import * as RosterClient from "../src/RosterClient.ts"
import { recording } from "./recording.ts"

class First extends Context.Service<First, ContactsService["Service"]>()("First") {}
class Second extends Context.Service<Second, ContactsService["Service"]>()("Second") {}

describe("a client", () => {
  it.effect.each([
    ["RosterClient", RosterClient.layer],
    ["HttpContactsService", HttpContactsService.layer]
  ] as const)("of each of two accounts in one application has its own address and key: %s", ([, layer]) =>
    Effect.gen(function* () {
      const sent: Array<readonly [url: string, key: string | undefined]> = []
      const transport = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request, url) => {
          sent.push([url.origin, request.headers["x-service-apikey"]])
          return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json([])))
        })
      )
      const of = (name: string) =>
        layer({ baseUrl: `https://${name}.example/v4`, apiKey: Redacted.make(`key-of-${name}`) })
      const both = Layer.mergeAll(
        Layer.provide(Layer.effect(First, ContactsService), of("first")),
        Layer.provide(Layer.effect(Second, ContactsService), of("second"))
      )
      yield* Effect.gen(function* () {
        yield* (yield* First).list()
        yield* (yield* Second).list()
      }).pipe(Effect.provide(Layer.provide(both, transport)))
      assert.deepStrictEqual(sent, [
        ["https://first.example", "key-of-first"],
        ["https://second.example", "key-of-second"]
      ])
    })
  )

  const nothing = { attempts: undefined, base: undefined, attemptTimeout: undefined, longestRetryAfter: undefined }
  const once = { ...defaultRetrySettings, attempts: 1 }
  const twice = { ...defaultRetrySettings, attempts: 2 }

  it.effect.each<readonly [string, number, Parameters<typeof policies>[0]]>([
    ["of nobody is the default one", 3, {}],
    ["of its layer counts", 2, { layer: twice }],
    ["of its options counts, in part", 2, { options: { attempts: 2 } }],
    ["of its options says nothing where it is undefined", 2, { layer: twice, options: nothing }],
    ["of its options counts over that of its layer", 1, { layer: twice, options: { attempts: 1 } }],
    ["of its options counts in downloads", 2, { options: { attempts: 2 }, download: true }],
    ["around a call counts over both", 1, { layer: twice, options: { attempts: 3 }, call: once }],
    ["around the application does not count over its options", 1, { around: twice, options: { attempts: 1 } }]
  ])("has the retry policy that it is given: that %s", ([, attempts, given]) =>
    Effect.map(policies(given), (sent) => assert.strictEqual(sent, attempts))
  )
})

describe("the option apiKey", () => {
  const right = SecretFormat.secretOf(SecretFormat.prefixes.ApiKey, 2n ** 192n - 1n)
  const build = (apiKey: string) =>
    Layer.build(
      RosterClient.layer({ baseUrl: "https://roster.example/v4", apiKey: Redacted.make(apiKey) }).pipe(
        Layer.provide(
          Layer.succeed(
            HttpClient.HttpClient,
            HttpClient.make(() => Effect.never)
          )
        )
      )
    )

  it.effect.each([
    ["another last character", right.slice(0, -1) + (right.endsWith("0") ? "1" : "0")],
    ["another character", `roster_0${right.slice(8)}`],
    ["two characters swapped", right.replace(/(.)(.)$/, "$2$1")],
    ["a character missing", right.slice(0, -1)],
    ["a character more", `${right}0`],
    ["capitals", `roster_${right.slice(7).toUpperCase()}`],
    ["nothing else", "roster_"]
  ] as const)("refuses a mistyped key of the service, and does not say it: %s", ([, key]) =>
    Effect.gen(function* () {
      assert.notStrictEqual(key, right)
      const error = yield* Effect.flip(build(key))
      assert.deepStrictEqual([error._tag, error.setting], ["InvalidSettings", "apiKey"])
      for (const text of [inspect(error, { depth: Infinity }), JSON.stringify(error), error.message])
        assert.notInclude(text, key)
    }).pipe(Effect.scoped)
  )

  it.effect.each([right, `${right}\n`, "F5D1E3C0A97B48629D1FA0C2B3E4D5F6", "rosterkey", "Roster_1"])(
    "takes a key with its checksum, and keys of other services: %s",
    (key) => Effect.scoped(build(key))
  )
})

describe("the option retry", () => {
  it.effect.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 1.5])("does not take %d attempts", (attempts) =>
    Effect.gen(function* () {
      const client = RosterClient.layer({ baseUrl: "https://roster.example/v4", retry: { attempts } })
      const transport = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make(() => Effect.never)
      )
      const refused = yield* Effect.flip(Layer.build(Layer.provide(client, transport)))
      assert.strictEqual(refused.setting, "retry.attempts")
    }).pipe(Effect.scoped)
  )
})

const wiped = (text: string) => {
  const secret = Redacted.make(text)
  Redacted.wipeUnsafe(secret)
  return secret
}

/** No wait is longer than it must be. */
const instantly = { nextDoubleUnsafe: () => 0, nextIntUnsafe: () => 0 }

describe("settings that no compiler would accept", () => {
  const layer = (options: object) => {
    // As plain JavaScript gives them.
    const given = { baseUrl: "https://roster.example/v4", ...options } as ClientOptions
    return Layer.provide(RosterClient.layer(given), recording().layer)
  }

  it.effect.each<readonly [string, string, object]>([
    ["a key as plain text", "apiKey", { apiKey: "a secret text" }],
    ["a key of another copy of effect", "apiKey", { apiKey: Object.create(Redacted.make("a secret text")) }],
    ["a key that was wiped", "apiKey", { apiKey: wiped("a secret text") }],
    ["a key of a variable that is not set", "apiKey", { apiKey: Redacted.make(undefined) }],
    ["a key that is an object", "apiKey", { apiKey: Redacted.make({ key: "a secret text" }) }],
    ["a key that is null", "apiKey", { apiKey: null }],
    ["no address", "baseUrl", { baseUrl: undefined }],
    ["a prefix that is no text", "apiKeyPrefix", { apiKeyPrefix: 7, apiKey: Redacted.make("k") }],
    ["a header that is no text", "apiKeyHeader", { apiKeyHeader: {}, apiKey: Redacted.make("k") }],
    ["a word for a duration", "retry.attemptTimeout", { retry: { attemptTimeout: "soon" } }],
    ["an unknown unit", "retry.base", { retry: { base: "3 fortnights" } }],
    ["null for a duration", "retry.totalTimeout", { retry: { totalTimeout: null } }]
  ])("are InvalidSettings that says nothing of a key: %s", ([, setting, options]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(layer(options)))
      assert.deepStrictEqual([error._tag, error.setting], ["InvalidSettings", setting])
      assert.notInclude(inspect(error) + error.message, "secret")
    }).pipe(Effect.scoped)
  )
})

describe("the option apiKeyPrefix", () => {
  it.effect.each([
    ["Bearer", "Bearer k"],
    ["Bearer ", "Bearer k"],
    ["Token", "Token k"],
    ["key=", "key=k"],
    ["Key:", "Key:k"],
    ["Key: ", "Key: k"],
    ["Token token=", "Token token=k"],
    ["", "k"]
  ] as const)("%j is a word of its own before the key, or a beginning of it: %s", ([apiKeyPrefix, value]) =>
    Effect.gen(function* () {
      const { layer, sent } = recording()
      const apiKey = Redacted.make("k")
      const client = RosterClient.layer({ baseUrl: "https://roster.example/v4", apiKey, apiKeyPrefix })
      yield* Effect.flatMap(ContactsService, (contacts) => contacts.list()).pipe(
        Effect.provide(Layer.provide(client, layer))
      )
      assert.deepStrictEqual(
        sent.map(({ headers }) => headers["x-service-apikey"]),
        [value]
      )
    })
  )
})

describe("the time of an error", () => {
  it.effect("is the setting that was reached, whatever was left of it", () =>
    Effect.gen(function* () {
      const silent = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make(() => Effect.never)
      )
      for (const [retry, after] of [
        [{ attemptTimeout: "3 seconds", totalTimeout: "10 seconds" }, 10],
        [{ attemptTimeout: "3 seconds", totalTimeout: "10 seconds", attempts: 2 }, 3],
        [{ attemptTimeout: "3 seconds", totalTimeout: "2 seconds" }, 2]
      ] as const) {
        const client = RosterClient.layer({ baseUrl: "https://roster.example/v4", retry: { attempts: 9, ...retry } })
        const call = Effect.flip(Effect.flatMap(ContactsService, (contacts) => contacts.list()))
        const running = yield* Effect.forkChild(Effect.provide(call, Layer.provide(client, silent)))
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(running)).message, new TimedOut({ after }).message)
      }
    }).pipe(Effect.provideService(Random.Random, instantly))
  )
})

/** How often a call is sent to a service that is away, by what each place says of the policy. */
const policies = Effect.fnUntraced(function* (given: {
  readonly layer?: RetrySettings
  readonly options?: PartialRetrySettings
  readonly call?: RetrySettings
  readonly around?: RetrySettings
  readonly download?: boolean
}) {
  let sent = 0
  const transport = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      sent++
      return Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status: 500 })))
    })
  )
  const provided = (settings: RetrySettings | undefined) =>
    settings === undefined ? Layer.empty : Layer.succeed(RetryPolicy, settings)
  const client = RosterClient.layer({ baseUrl: "https://roster.example/v4", retry: given.options }).pipe(
    Layer.provide([transport, provided(given.layer)]),
    Layer.provideMerge(provided(given.around))
  )
  const used = Effect.gen(function* () {
    const contacts = yield* ContactsService
    if (given.download !== true) return yield* Effect.asVoid(contacts.list())
    return yield* Stream.runDrain(contacts.download("https://files.example/export.csv"))
  })
  const call = used.pipe(Effect.provide(provided(given.call)), Effect.exit, Effect.provide(client))
  const running = yield* Effect.forkChild(Effect.provideService(call, Random.Random, instantly))
  yield* TestClock.adjust("1 minute")
  yield* Fiber.join(running)
  return sent
})

describe("the durations of a retry policy", () => {
  it.effect.each<readonly [string, Duration.Input]>([
    ["a text", "2 seconds"],
    ["milliseconds", 2000],
    ["a duration", Duration.seconds(2)],
    ["parts", { seconds: 2 }]
  ])("are given as %s, in the options and around a call", ([, attemptTimeout]) =>
    Effect.gen(function* () {
      const silent = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make(() => Effect.never)
      )
      const retry = { attempts: 1, attemptTimeout }
      for (const [options, around] of [
        [retry, Layer.empty],
        [{}, Layer.succeed(RetryPolicy, { ...defaultRetrySettings, ...retry })]
      ] as const) {
        const client = RosterClient.layer({ baseUrl: "https://roster.example/v4", retry: options })
        const call = Effect.flatMap(ContactsService, (contacts) => contacts.list()).pipe(Effect.provide(around))
        const running = yield* Effect.forkChild(Effect.flip(call).pipe(Effect.provide(Layer.provide(client, silent))))
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* Fiber.join(running)).message, new TimedOut({ after: 2 }).message)
      }
    })
  )
})
