/**
 * What a client lets others see of itself: names and numbers as docs/observability.md says, and nobody's address unless it is
 * asked for.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Effect, Layer, Metric, Redacted, Tracer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { type ClientOptions, defaultRetrySettings, RetryPolicy, RosterClient } from "../src/index.ts"

const email = "ada@example.com"

/** A service that is away for some requests, and notes the headers of each. */
const service = (unavailable: number, seen: Array<Readonly<Record<string, string>>>) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      seen.push({ ...request.headers })
      const answer =
        seen.length <= unavailable
          ? Response.json({ Error: "away" }, { status: 500 })
          : Response.json({ Email: email }, { status: 200 })
      return Effect.succeed(HttpClientResponse.fromWeb(request, answer))
    })
  )

const observe = Effect.fnUntraced(function* (options: Partial<ClientOptions>, unavailable = 0) {
  const headers: Array<Readonly<Record<string, string>>> = []
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const client = RosterClient.layer({ baseUrl: "http://localhost/v4", apiKey: Redacted.make("k"), ...options })
  yield* Effect.flatMap(ContactsService, (contacts) => contacts.get(email)).pipe(
    Effect.provide(Layer.provide(client, service(unavailable, headers))),
    Effect.provideService(RetryPolicy, { ...defaultRetrySettings, base: defaultRetrySettings.base }),
    Effect.withTracer(tracer)
  )
  const attributes = spans.flatMap((span) => [...span.attributes])
  return { headers, attributes: Object.fromEntries(attributes), names: spans.map((span) => span.name) }
})

describe("what can be watched", () => {
  it.live("a span is named after the method and tells operation, attempts and status, and no address", () =>
    Effect.gen(function* () {
      const { attributes, names } = yield* observe({}, 1)
      assert.deepStrictEqual(names, ["ContactsService.get"])
      assert.deepInclude(attributes, {
        "roster.operation": "contactsByEmailGet",
        "roster.attempts": 2,
        "http.response.status_code": 200
      })
      assert.notInclude(JSON.stringify(attributes), email)
    })
  )

  it.live("the address is in the span where that is asked for", () =>
    Effect.gen(function* () {
      const { attributes } = yield* observe({ traceSubjects: true })
      assert.strictEqual(attributes["roster.subject"], email)
    })
  )

  it.live("the trace goes along where that is asked for, and only there", () =>
    Effect.gen(function* () {
      const silent = yield* observe({})
      assert.notProperty(silent.headers[0] ?? {}, "traceparent")
      const traced = yield* observe({ propagateTrace: true })
      assert.match(traced.headers[0]?.["traceparent"] ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
    })
  )

  it.live("calls, retries, waits and the budget are counted", () =>
    Effect.gen(function* () {
      yield* observe({}, 2)
      const snapshot = yield* Metric.snapshot
      const ids = snapshot.map((metric) => metric.id)
      for (const id of ["calls_total", "retries_total", "wait_seconds", "retry_tokens"]) {
        assert.include(ids, `roster_client_${id}`)
      }
      const retries = snapshot.find(({ id }) => id === "roster_client_retries_total")
      assert.deepInclude(retries?.attributes, { operation: "contactsByEmailGet" })
    })
  )
})
