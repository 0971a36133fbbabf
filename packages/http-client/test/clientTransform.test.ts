import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { defaultRetrySettings, RetryPolicy } from "../src/calls/RetryPolicy.ts"
import * as RosterClient from "../src/RosterClient.ts"
import { recording } from "./recording.ts"

describe("withClientTransform", () => {
  const client = RosterClient.make({ baseUrl: "https://roster.example/v4", apiKey: Redacted.make("the-secret") })

  it.effect("changes the HttpClient of the calls of one effect, on every attempt, and of no others", () =>
    Effect.gen(function* () {
      const { layer: transport, sent } = recording(500)
      const seen: Array<HttpClientRequest.HttpClientRequest> = []
      const { contacts } = yield* Effect.provide(client, transport)
      const marked = contacts.list().pipe(
        RosterClient.withClientTransform((client) =>
          client.pipe(
            HttpClient.mapRequest(HttpClientRequest.setHeader("x-tenant", "blue")),
            HttpClient.tapRequest((request) => Effect.sync(() => seen.push(request)))
          )
        )
      )
      const running = yield* Effect.forkChild(Effect.exit(marked))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(running)
      assert.deepStrictEqual(
        sent.map(({ headers }) => [headers["x-tenant"], headers["x-service-apikey"]]),
        Array.from({ length: 3 }, () => ["blue", "the-secret"])
      )
      assert.strictEqual(seen.length, 3)
      assert.notInclude(inspect(seen, { depth: Infinity }), "the-secret")
      const next = yield* Effect.forkChild(Effect.exit(contacts.list()))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(next)
      assert.deepStrictEqual(
        sent.slice(3).map(({ headers }) => headers["x-tenant"]),
        [undefined, undefined, undefined]
      )
    })
  )

  it.effect("reaches downloads, without the key", () =>
    Effect.gen(function* () {
      const { layer: transport, sent } = recording()
      const { contacts } = yield* Effect.provide(client, transport)
      yield* Stream.runDrain(contacts.download("https://files.example/a.csv")).pipe(
        RosterClient.withClientTransform(HttpClient.mapRequest(HttpClientRequest.setHeader("x-tenant", "blue")))
      )
      assert.deepStrictEqual(
        sent.map(({ headers }) => [headers["x-tenant"], headers["x-service-apikey"]]),
        [["blue", undefined]]
      )
    })
  )

  it.effect("prints no key where it prints the answer or an error", () =>
    Effect.gen(function* () {
      const { contacts } = yield* Effect.provide(client, recording().layer)
      const printed: Array<string> = []
      const print = (value: object) =>
        Effect.sync(() => printed.push(JSON.stringify(value), inspect(value), `${value}`))
      yield* RosterClient.withClientTransform(contacts.list(), HttpClient.tap(print))
      const broken = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }))
        )
      )
      const away = yield* Effect.provide(client, broken)
      const once = { ...defaultRetrySettings, attempts: 1 }
      yield* away.contacts
        .list()
        .pipe(
          RosterClient.withClientTransform(HttpClient.tapError(print)),
          Effect.provideService(RetryPolicy, once),
          Effect.ignore
        )
      assert.strictEqual(printed.length, 6)
      for (const text of printed) assert.notInclude(text, "the-secret")
    })
  )
})
