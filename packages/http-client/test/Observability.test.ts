/**
 * What a client lets others see of itself: names and numbers as docs/observability.md says, and nobody's address unless it is
 * asked for.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Duration, Effect, Layer, Logger, Metric, Redacted, References, Tracer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { inspect } from "node:util"
import { type ClientOptions, RosterClient } from "../src/index.ts"

const email = "ada@example.com"

/** A service that answers some requests with a status, and notes the headers of each. */
const service = (failing: number, seen: Array<Readonly<Record<string, string>>>, status: number) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      seen.push({ ...request.headers })
      // Never answers, so that the call can only be interrupted.
      if (status === 0) return Effect.never
      const answer =
        seen.length <= failing
          ? Response.json({ Error: `away, ${email}` }, { status })
          : Response.json({ Email: email }, { status: 200 })
      return Effect.succeed(HttpClientResponse.fromWeb(request, answer))
    })
  )

const observe = Effect.fnUntraced(function* (options: Partial<ClientOptions>, failing = 0, status = 500) {
  const headers: Array<Readonly<Record<string, string>>> = []
  const spans: Array<Tracer.NativeSpan> = []
  const logged: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const logger = Logger.make(({ logLevel, message }) => {
    logged.push(`${logLevel} ${inspect(message, { depth: Infinity })}`)
  })
  const client = RosterClient.layer({
    baseUrl: "http://localhost:4010/v4",
    apiKey: Redacted.make("k"),
    retry: { base: Duration.zero, throttledBase: Duration.zero },
    ...options
  })
  const exit = yield* Effect.flatMap(ContactsService, (contacts) => contacts.get(email)).pipe(
    status === 0 ? Effect.timeoutOption("20 millis") : Effect.asSome,
    Effect.exit,
    Effect.provide([Layer.provide(client, service(failing, headers, status)), Logger.layer([logger])]),
    Effect.provideService(References.MinimumLogLevel, "All"),
    Effect.withTracer(tracer)
  )
  const attributes = Object.fromEntries(spans.flatMap((span) => [...span.attributes]))
  const printed = inspect([spans, logged], { depth: Infinity })
  return { exit, headers, attributes, spans, logged, printed, names: spans.map((span) => span.name) }
})

/** How often calls of the operation have ended so, and in how many times that was measured. */
const ends = Effect.fnUntraced(function* (outcome: string) {
  const found = (yield* Metric.snapshot).filter(
    ({ attributes }) => attributes?.["operation"] === "contactsByEmailGet" && attributes["outcome"] === outcome
  )
  return found.flatMap((metric) =>
    metric.type === "Counter"
      ? [[metric.id, Number(metric.state.count)] as const]
      : metric.type === "Histogram"
        ? [[metric.id, metric.state.count] as const]
        : []
  )
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

  it.live("the address is in the span with traceSubjects", () =>
    Effect.gen(function* () {
      const { attributes } = yield* observe({ traceSubjects: true })
      assert.strictEqual(attributes["roster.subject"], email)
    })
  )

  it.live("the trace is propagated only with propagateTrace", () =>
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
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("a span is of kind client and names the server", () =>
    Effect.gen(function* () {
      const { attributes, spans } = yield* observe({})
      assert.deepStrictEqual(
        spans.map(({ kind }) => kind),
        ["client"]
      )
      assert.deepInclude(attributes, {
        "server.address": "localhost",
        "server.port": 4010,
        "roster.outcome": "Success"
      })
    })
  )

  it.live.each([
    [401, "Unauthorized", 1],
    [403, "AccessDenied", 1],
    [404, "ContactNotFound", 1],
    [429, "RateLimited", 3],
    [500, "Unavailable", 3],
    [418, "Rejected", 1],
    [0, "Interrupted", 1]
  ] as const)(
    "a call that ends by %d is counted and timed as %s, and its span tells so and nothing of the address",
    ([status, outcome, attempts]) =>
      Effect.gen(function* () {
        const { attributes, printed } = yield* observe({}, 99, status)
        assert.deepInclude(attributes, {
          "roster.operation": "contactsByEmailGet",
          "roster.attempts": attempts,
          "roster.outcome": outcome,
          "server.address": "localhost",
          ...(status === 0 ? {} : { "http.response.status_code": status })
        })
        assert.notInclude(printed, email)
        assert.deepStrictEqual(yield* ends(outcome), [
          ["roster_client_calls_total", 1],
          ["roster_client_call_duration_seconds", 1]
        ])
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("each retry is a line in the debug log, without a word of the answer", () =>
    Effect.gen(function* () {
      const { logged } = yield* observe({}, 2)
      assert.strictEqual(logged.length, 2)
      assert.match(logged[0] ?? "", /^Debug .*contactsByEmailGet.*attempt 2 of 3.*Unavailable/s)
      assert.match(logged[1] ?? "", /^Debug .*contactsByEmailGet.*attempt 3 of 3.*Unavailable/s)
      assert.notInclude(logged.join(), "away")
    })
  )
})
