/**
 * What an exporter is given of a failed span: enough to know what failed and where, and nothing of whom it was about.
 */
import { ContactNotFound, RateLimited, ServiceError, TraceSubjects } from "@roster/domain"
import { fnRedacted, loggedCause, redactSpans } from "@roster/domain/internal"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Tracer } from "effect"
import { recordSpans } from "../faults/SpanRecorder.ts"

const email = "canary.person@example.com"
const notFound = new ContactNotFound({ email })

const fails = fnRedacted("ContactsService.get")(function* (_email: string) {
  return yield* notFound
})

describe("the spans of a redacted effect", () => {
  it.effect("end with the tag of the error and its stack frames", () =>
    Effect.gen(function* () {
      const { exit, exported, printed } = yield* recordSpans(fails(email))
      assert.include(JSON.stringify(exit), email)
      const [traces = ""] = exported
      for (const text of ["ContactNotFound", "exception.stacktrace", "spanRedaction.test.ts"]) {
        assert.include(traces, text)
      }
      assert.notInclude([...exported, ...printed].join("\n"), email)
    })
  )

  it.effect("name the reason of a ServiceError", () =>
    Effect.gen(function* () {
      const error = new ServiceError({ operation: "contactsGet", reason: new RateLimited({ retryAfter: 7 }) })
      const { exported } = yield* recordSpans(redactSpans()(Effect.withSpan(Effect.fail(error), "list")))
      assert.match(exported.join(), /"exception.type","value":\{"stringValue":"ServiceError"\}/)
      assert.match(exported.join(), /"message":"RateLimited"/)
    })
  )

  it.effect("keep the frames of a defect, and no line of its message", () =>
    Effect.gen(function* () {
      const die = Effect.die(new TypeError(`No ${email}\n    at ${email}\n    at ${email} (file:///x.js:1:2)`))
      const { exported, printed } = yield* recordSpans(redactSpans()(Effect.withSpan(die, "broken")))
      assert.include(exported.join(), "TypeError")
      assert.include(exported.join(), "spanRedaction.test.ts")
      assert.notInclude([...exported, ...printed].join("\n"), email)
    })
  )

  it.effect("hold no result, no address of a request, and nothing of the spans below", () =>
    Effect.gen(function* () {
      const below = Effect.withSpan(Effect.succeed(email), "sqlite", {
        attributes: { "url.full": `/contacts/${email}` }
      })
      const { exit, exported, printed } = yield* recordSpans(redactSpans()(Effect.withSpan(below, "get")))
      assert.include(JSON.stringify(exit), email)
      assert.strictEqual(printed.length, 2)
      assert.notInclude([...exported, ...printed].join("\n"), email)
    })
  )

  it.effect("are complete with TraceSubjects, also inside redacted ones", () =>
    Effect.gen(function* () {
      const asked = redactSpans({ traceSubjects: true })(Effect.withSpan(notFound, "get"))
      for (const effect of [asked, redactSpans()(asked), Effect.provideService(fails(email), TraceSubjects, true)]) {
        const { exported } = yield* recordSpans(effect)
        assert.include(exported.join(), email)
      }
    })
  )

  it.effect("and the log of a defect: its name and frames, and its message with TraceSubjects", () =>
    Effect.gen(function* () {
      const cause = Cause.die(new TypeError(`No ${email}`))
      const logged = Cause.pretty(yield* loggedCause(cause))
      for (const text of ["TypeError", "spanRedaction.test.ts"]) assert.include(logged, text)
      assert.notInclude(logged, email)
      assert.include(Cause.pretty(yield* Effect.provideService(loggedCause(cause), TraceSubjects, true)), email)
    })
  )

  it.effect("are those of the tracer itself, and outer spans stay unchanged", () =>
    Effect.gen(function* () {
      class Own extends Tracer.NativeSpan {
        readonly #secret = "own"
        override end(endTime: bigint, exit: Parameters<Tracer.Span["end"]>[1]) {
          assert.strictEqual(this.#secret, "own")
          super.end(endTime, exit)
        }
      }
      const made: Array<Own> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Own(options)
          made.push(span)
          return span
        }
      })
      yield* fails(email).pipe(Effect.withSpan("signUp"), Effect.withTracer(tracer), Effect.exit)
      const [outer, inner] = made.map(({ status }) =>
        JSON.stringify(status, (_, value) => (typeof value === "bigint" ? 0 : value))
      )
      assert.include(outer, email)
      assert.notInclude(inner, email)
    })
  )
})
