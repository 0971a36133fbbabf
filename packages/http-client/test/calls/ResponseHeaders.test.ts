import { assert, describe, it } from "@effect/vitest"
import { EmailAddress, ServiceError } from "@roster/domain"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as RosterClient from "../../src/RosterClient.ts"

const secret = "the-secret-key"

const clientOf = (answer: () => Response) =>
  Effect.provide(
    RosterClient.make({ baseUrl: "https://roster.example/v4", apiKey: Redacted.make(secret), retry: { attempts: 1 } }),
    Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, answer())))
    )
  )

const headers = {
  "X-Request-Id": "req-7",
  "Content-Type": "application/json",
  Date: "Sun, 22 Nov 2026 12:00:00 GMT",
  "Set-Cookie": "session=s3cret",
  "X-Auth-Token": "t0ken",
  Authorization: "Bearer t0ken",
  "X-Service-ApiKey": secret,
  Location: "https://elsewhere.example/?token=t0ken",
  "X-RateLimit-Remaining": "0"
}

const expected = {
  "x-request-id": "req-7",
  "content-type": "application/json",
  date: "Sun, 22 Nov 2026 12:00:00 GMT",
  "x-ratelimit-remaining": "0"
}

const failed = Effect.fnUntraced(function* <A>(call: Effect.Effect<A, ServiceError | { readonly _tag: string }>) {
  const error = yield* Effect.flip(call)
  return error instanceof ServiceError ? error : yield* Effect.die(error)
})

const contact = { email: EmailAddress.make("ada@example.com") }

describe("the error of an answer", () => {
  it.effect.each<readonly [string, () => Response, string]>([
    ["a refusal", () => Response.json({ Error: "no" }, { status: 418, headers }), "Rejected"],
    ["a missing level", () => Response.json({ Error: "Access Denied." }, { status: 403, headers }), "AccessDenied"],
    ["a throttle", () => Response.json({ Error: "slow" }, { status: 429, headers }), "RateLimited"],
    ["an unknown outcome", () => Response.json({ Error: "oops" }, { status: 500, headers }), "OutcomeUnknown"],
    ["a success that cannot be read", () => Response.json({ no: "list" }, { headers }), "InvalidResponse"]
  ])("has the request id and the harmless headers: %s", ([, answer, tag]) =>
    Effect.gen(function* () {
      const { contacts } = yield* clientOf(answer)
      const error = yield* failed(contacts.add([contact]))
      assert.strictEqual(error.reason._tag, tag)
      assert.strictEqual(error.requestId, "req-7")
      const { "content-length": _length, ...rest } = error.responseHeaders ?? {}
      assert.deepStrictEqual(rest, expected)
      for (const text of [inspect(error, { depth: Infinity }), JSON.stringify(error)]) {
        assert.notMatch(text, /t0ken|s3cret|the-secret-key/)
      }
    })
  )

  it.effect("has them for a download too", () =>
    Effect.gen(function* () {
      const { contacts } = yield* clientOf(() => Response.json({ Error: "no" }, { status: 418, headers }))
      const error = yield* failed(Stream.runDrain(contacts.download("https://files.example/a.csv")))
      assert.deepStrictEqual([error.reason._tag, error.requestId], ["Rejected", "req-7"])
    })
  )

  it.effect("takes the id from another usual header, and quotes neither the key nor endless text", () =>
    Effect.gen(function* () {
      const { contacts } = yield* clientOf(
        () => new Response("", { status: 418, headers: { "CF-Ray": "ray-1", Server: `${secret}${"x".repeat(500)}` } })
      )
      const { requestId, responseHeaders } = yield* failed(contacts.list())
      assert.strictEqual(requestId, "ray-1")
      assert.strictEqual(responseHeaders?.["server"], `<redacted>${"x".repeat(190)}`)
    })
  )

  it.effect("has neither where no answer came", () =>
    Effect.gen(function* () {
      const silent = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make(() => Effect.never)
      )
      const client = RosterClient.make({ baseUrl: "https://roster.example/v4", retry: { attempts: 1 } })
      const { contacts } = yield* Effect.provide(client, silent)
      const running = yield* Effect.forkChild(failed(contacts.list()))
      yield* TestClock.adjust("1 minute")
      const error = yield* Fiber.join(running)
      assert.strictEqual(error.reason._tag, "TimedOut")
      assert.notProperty(error, "requestId")
      assert.notProperty(error, "responseHeaders")
    })
  )
})
