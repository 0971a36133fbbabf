/**
 * C.5 Inputs and secrets.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  ContactFilter,
  type ContactPayload,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  RuleText,
  ServiceError
} from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { addAll, type AddOutcome, defaultAddConcurrency, Stopped } from "@roster/workflows"
import { Cause, Duration, Effect, Exit, Inspectable, Redacted, Stream } from "effect"
import { inspect } from "node:util"
import { canary, leaksOf, renderings } from "./Canary.ts"
import { clockedTrial } from "./ClockedTrial.ts"
import {
  canaryEmail,
  deleteByEmails,
  everyOperation,
  operationCall,
  type OperationFailure,
  type Services
} from "./EveryOperation.ts"
import { bodyText } from "./server/FaultLedger.ts"
import { finish, readBody, reset, respond, type Script, stall, write } from "./server/FaultScript.ts"
import { observed, trial } from "./FaultTrial.ts"
import type { ScriptedRequest } from "./server/ScriptedHttpClient.ts"
import { failure, refusedAs, succeeded } from "./Verdict.ts"

const get = operationCall("contactsByEmailGet")
const contacts = <A, E>(use: (service: ContactsService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(ContactsService, use)
const keys = <A, E>(use: (service: CredentialsService["Service"]["apiKeys"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(CredentialsService, (service) => use(service.apiKeys))

describe("C.5 Inputs and secrets", () => {
  const emails = [
    "a/b@x.example",
    "a?b@x.example",
    "a#b@x.example",
    "a%2Fb@x.example",
    "a+b@x.example",
    "a b@x.example",
    "a;b@x.example",
    "a\\b@x.example",
    "é@x.example",
    "日本@x.example",
    "a&b=c@x.example",
    "a:b@x.example",
    "a'b@x.example",
    "%@x.example",
    "%zz@x.example",
    "%2e%2e",
    "😀@x.example",
    "..@x.example",
    "a@x.example/../../v4/emails",
    `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.exampl`
  ]

  it.live.each(emails)("C66 the service receives exactly the e-mail %s", (email) =>
    Effect.gen(function* () {
      const answer = { status: 200, body: JSON.stringify({ Email: email }) }
      const calls = [
        contacts((service) => service.get(email)),
        contacts((service) => service.update(email, {})),
        Effect.as(
          contacts((service) => service.delete(email)),
          { email }
        )
      ]
      for (const call of calls) {
        const ended = yield* trial({ plan: { requests: [[respond(answer)]] }, call })
        succeeded(ended)
        const [, version, resource, segment, ...rest] = ended.requests[0]?.target.split("/") ?? []
        assert.deepStrictEqual(
          [version, resource, decodeURIComponent(segment ?? ""), rest],
          ["v4", "contacts", email, []]
        )
      }
      const named = yield* trial({
        plan: { requests: [[respond({ status: 404 })]] },
        call: keys((service) => service.get(email))
      })
      assert.strictEqual(decodeURIComponent(named.requests[0]?.path.split("/")[4] ?? ""), email)
    })
  )

  it.live.each(["", ".", "..", "\ud800", "a\udc00@x.example"])(
    "C67 %o cannot stand in an address: refused, and nothing is sent",
    (name) =>
      Effect.gen(function* () {
        const calls: ReadonlyArray<Effect.Effect<unknown, OperationFailure, Services>> = [
          contacts((service) => service.get(name)),
          contacts((service) => service.update(name, {})),
          contacts((service) => service.delete(name)),
          keys((service) => service.get(name)),
          keys((service) => service.delete(name)),
          keys((service) => service.update(name, { name: CredentialName.make("x"), accessLevels: [] })),
          Effect.flatMap(CredentialsService, ({ smtp }) => smtp.get(name)),
          Effect.flatMap(CredentialsService, ({ smtp }) => smtp.delete(name)),
          // What a caller in plain JavaScript can do: a value that nobody checked.
          contacts((service) => service.add([{ email: EmailAddress.make(name, { disableChecks: true }) }])),
          keys((service) =>
            service.create({ name: CredentialName.make(name, { disableChecks: true }), accessLevels: [] })
          ),
          Effect.flatMap(CredentialsService, ({ smtp }) =>
            smtp.create({ name: EmailAddress.make(name, { disableChecks: true }) })
          )
        ]
        for (const [index, call] of calls.entries()) {
          const ended = yield* trial({ plan: { requests: [[respond({ status: 200, body: "{}" })]] }, call })
          refusedAs(ended, "InvalidInput", `call ${index}`)
          assert.deepStrictEqual([ended.requests, ended.connections], [[], []])
        }
      })
  )

  it.live.each([
    ["a line break inside", "CANARY\nkey"],
    ["CRLF and a header", `${canary.apiKey}\r\nX-Injected: yes`],
    ["a NUL", `${canary.apiKey}\0`],
    ["nothing", ""],
    ["line breaks alone", "\n"],
    ["two line breaks at the end", `${canary.apiKey}\n\n`],
    ["DEL", `${canary.apiKey}\u007f`]
  ] as const)("C68 a key with %s is refused when it is configured, and not quoted", ([, key]) =>
    Effect.gen(function* () {
      const ended = yield* trial({ plan: {}, call: get.call, client: () => ({ apiKey: Redacted.make(key) }) })
      refusedAs(ended, "InvalidSettings")
      assert.notInclude(inspect(ended.exit, { depth: Infinity }), "CANARY")
      assert.deepStrictEqual(ended.connections, [])
    })
  )

  it.live.each(["\n", "\r\n"])("C68 one line break at the end of a key, %j, is cut off", (end) =>
    Effect.gen(function* () {
      const ended = yield* trial({
        plan: { requests: [[respond(get.answer)]] },
        call: get.call,
        client: () => ({ apiKey: Redacted.make(canary.apiKey + end) })
      })
      succeeded(ended)
      assert.strictEqual(ended.requests[0]?.headers["x-service-apikey"], canary.apiKey)
    })
  )

  it.live.each([
    ["é", `${canary.apiKey}é`],
    ["an emoji", `${canary.apiKey}😀`],
    ["a space before it", ` ${canary.apiKey}`],
    ["a space after it", `${canary.apiKey} `],
    ["a tab", `${canary.apiKey}\t`],
    ["a megabyte", canary.apiKey.repeat(50_000)],
    ["a byte order mark", `\ufeff${canary.apiKey}`]
  ] as const)("C69 a key with %s is refused and not sent", ([, key]) =>
    Effect.gen(function* () {
      const ended = yield* trial({ plan: {}, call: get.call, client: () => ({ apiKey: Redacted.make(key) }) })
      refusedAs(ended, "InvalidSettings")
      assert.deepStrictEqual(ended.connections, [])
    })
  )

  const people = (count: number): ReadonlyArray<ContactPayload> =>
    Array.from({ length: count }, (_, i) => ({ email: EmailAddress.make(`p${i}@x.example`) }))
  const sizeOf = ({ body }: ScriptedRequest): number => {
    const sent: unknown = JSON.parse(body)
    return Array.isArray(sent) ? sent.length : -1
  }
  const added = (request: ScriptedRequest) => ({ status: 200, body: request.body })

  it.effect("C71 1001 contacts in one add are refused, and nothing is sent", () =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({ call: contacts((service) => service.add(people(1001))), answers: added })
      refusedAs(ended, "TooManyContacts")
      assert.deepStrictEqual(ended.requests, [])
    })
  )

  it.effect.each([0, 1, 1000, 1001, 100_000])("C71 %d contacts go in parts of at most 1000, each once", (count) =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({
        call: Stream.runCollect(addAll(Stream.fromIterable(people(count)))),
        answers: added
      })
      succeeded(ended)
      if (Exit.isSuccess(ended.exit))
        assert.strictEqual(ended.exit.value.filter((outcome) => outcome._tag === "Accepted").length, count)
      const sizes = ended.requests.map(sizeOf)
      assert.isAtMost(Math.max(0, ...sizes), 1000)
      assert.strictEqual(
        sizes.reduce((sum, size) => sum + size, 0),
        count
      )
      assert.strictEqual(sizes.length, Math.ceil(count / 1000))
    })
  )

  /** Every outcome of a program that stops, which it gives before it fails. */
  const untilStopped = <E>(adds: Stream.Stream<AddOutcome, E, ContactsService>) =>
    Effect.suspend(() => {
      const given: Array<AddOutcome> = []
      const each = Stream.runForEach(adds, (outcome) => Effect.sync(() => void given.push(outcome)))
      return Effect.map(Effect.exit(each), (exit) => {
        assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Stopped)
        return given
      })
    })

  it.effect.each([
    ["the answer is lost", { code: "ECONNRESET", syscall: "read" }, "Unknown"],
    ["the key is refused", { status: 401 }, "NotSent"]
  ] as const)("C71 at part 3 of 5 %s: every row is accounted for, in order", ([, fault, third]) =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({
        call: untilStopped(addAll(Stream.fromIterable(people(5000)), { concurrency: 1 })),
        answers: (request, number) => (number === 2 ? fault : added(request))
      })
      succeeded(ended)
      if (Exit.isFailure(ended.exit)) return
      const outcomes = ended.exit.value.map((outcome) => outcome._tag)
      const part = (index: number) => [...new Set(outcomes.slice(index * 1000, (index + 1) * 1000))]
      assert.deepStrictEqual<unknown>([0, 1, 2, 3, 4].map(part), [
        ["Accepted"],
        ["Accepted"],
        [third],
        ["NotSent"],
        ["NotSent"]
      ])
      assert.strictEqual(outcomes.length, 5000)
      assert.strictEqual(ended.requests.length, 3)
      // Nothing is said of a contact that was not sent as if it had been: sending it does no harm.
      for (const outcome of ended.exit.value) {
        if (outcome._tag !== "NotSent") continue
        assert.isFalse(outcome.error.mayHaveHappened)
        assert.notMatch(outcome.error.message, /request was sent|answer was lost/)
      }
    })
  )

  it.effect.each([
    ["named by its place in the request", (place: number) => `Invalid [${place}].FirstName: no`, "firstName"],
    ["named as a whole", (place: number) => `Invalid [${place}]: no`, "body"],
    ["named without its place", () => "Invalid Email: no", "email"]
  ] as const)("C71 one bad row, %s, costs itself alone, and is told by its own place and address", ([, words, field]) =>
    Effect.gen(function* () {
      const bad = "p1777@x.example"
      const ended = yield* clockedTrial({
        call: Stream.runCollect(addAll(Stream.fromIterable(people(2500)))),
        answers: (request) => {
          const sent: ReadonlyArray<{ readonly Email: string }> = JSON.parse(request.body)
          const place = sent.findIndex(({ Email }) => Email === bad)
          return place < 0 ? added(request) : { status: 400, body: JSON.stringify({ Error: words(place) }) }
        }
      })
      succeeded(ended)
      if (Exit.isFailure(ended.exit)) return
      assert.deepStrictEqual(
        ended.exit.value.flatMap((outcome, i) => (outcome._tag === "Accepted" ? [] : [[i, outcome._tag]])),
        [[1777, "Refused"]]
      )
      const refused = ended.exit.value[1777]
      if (refused?._tag !== "Refused") return assert.fail("it is not refused")
      const { email, error, index } = refused
      assert.deepStrictEqual([index, email, error.field, error.issue], [1777, bad, field, "no"])
      assert.notInclude(error.message, bad)
    })
  )

  it.effect.each([1, 1000, 20_000])(
    "C71 what is wrong with the call is said once, and not of its %d contacts",
    (count) =>
      Effect.gen(function* () {
        const ended = yield* clockedTrial({
          call: untilStopped(addAll(Stream.fromIterable(people(count)), { listNames: ["a", "b"] })),
          answers: () => ({ status: 400, body: JSON.stringify({ Error: "Invalid listnames[1]: no such name" }) })
        })
        succeeded(ended)
        if (Exit.isFailure(ended.exit)) return
        const errors = new Set(
          ended.exit.value.map((outcome) => (outcome._tag === "NotSent" ? outcome.error : outcome._tag))
        )
        const [error] = errors
        assert.deepStrictEqual([ended.exit.value.length, errors.size], [count, 1])
        assert.include(error instanceof ServiceError ? error.message : "", "Invalid listNames[1]: no such name")
        // Those that were under way at once.
        assert.isAtMost(ended.requests.length, defaultAddConcurrency)
      })
  )

  it.effect.each([
    ["no address", []],
    ["no list", undefined]
  ])("C72 a filter by addresses with %s is not sent: a query without them would mean everybody", ([, emails]) =>
    Effect.gen(function* () {
      // What a caller in plain JavaScript makes.
      const filter = ContactFilter.ByEmails({ emails: emails as never })
      for (const call of [
        contacts((service) => service.export({ filter })),
        contacts((service) => service.deleteMany(filter))
      ]) {
        const ended = yield* clockedTrial<unknown, OperationFailure>({ call, answers: [] })
        refusedAs(ended, "InvalidInput")
        assert.deepStrictEqual(ended.requests, [])
      }
    })
  )

  it.effect.each([
    ["both", { rule: "All", emails: ["a@x.example"] }, "ConflictingFilter"],
    ["both, empty", { rule: "", emails: [] }, "ConflictingFilter"],
    ["an empty list", { emails: [] }, "InvalidInput"],
    ["a blank rule", { rule: "" }, "InvalidRule"],
    ["a rule of spaces", { rule: " \t\n" }, "InvalidRule"]
  ] as const)("C72 a filter with %s is refused", ([, input, tag]) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(contactFilterFromInput(input))
      refusedAs({ exit }, tag)
    })
  )

  it.live.each([
    ["a blank rule", ContactFilter.ByRule({ rule: RuleText.make("", { disableChecks: true }) })],
    ["a rule of spaces", ContactFilter.ByRule({ rule: RuleText.make("  ", { disableChecks: true }) })],
    ["a rule that is none", ContactFilter.ByRule({ rule: RuleText.make("1 = 1", { disableChecks: true }) })]
  ] as const)("C72 a bulk delete by %s that nobody checked is refused, and nothing is sent", ([, filter]) =>
    Effect.gen(function* () {
      const ended = yield* trial({
        plan: { requests: [[respond({ status: 200 })]] },
        call: contacts((service) => service.deleteMany(filter))
      })
      assert.include(["InvalidRule", "InvalidInput"], failure(ended)._tag)
      assert.deepStrictEqual(ended.requests, [])
    })
  )

  it.live("C72 a bulk delete sends one of the two and never both", () =>
    Effect.gen(function* () {
      for (const [{ call }, field] of [
        [deleteByEmails, "Emails"],
        [operationCall("contactsDeletePost"), "Rule"]
      ] as const) {
        const ended = yield* trial({ plan: { requests: [[respond({ status: 200 })]] }, call })
        assert.deepStrictEqual(Object.keys(JSON.parse(ended.requests.map(bodyText).join())), [field])
      }
    })
  )

  /** What a hostile or careless service can say back: whatever it was sent. */
  const echo = JSON.stringify({ Error: `The key ${canary.apiKey} is not one of ours` })
  const faults: ReadonlyArray<readonly [what: string, script: Script, attempts?: number]> = [
    ["a reset", [readBody(), reset]],
    ["an end", [readBody(), finish]],
    ["silence", [readBody(), stall]],
    ["no HTTP", [readBody(), write(`SSH-2.0-${canary.apiKey}\r\n`), finish]],
    [
      "a page with the key in it",
      [respond({ status: 200, headers: { "Content-Type": "text/html" }, body: `<p>${canary.apiKey}</p>` })]
    ],
    ["JSON that is none, with the key in it", [respond({ status: 200, body: `{"${canary.apiKey}` })]],
    [
      "a record of another shape, with the key in it",
      [
        respond({
          status: 200,
          body: JSON.stringify({ [canary.apiKey]: canary.apiKey, Email: [canary.apiKey], Name: [canary.apiKey] })
        })
      ]
    ],
    [
      "a redirect with the key in it",
      [respond({ status: 302, headers: { Location: `https://${canary.apiKey}.example/?key=${canary.apiKey}` } })]
    ],
    ...[400, 401, 403, 404, 409, 413, 422, 429, 500, 501, 502, 503].map(
      (status) => [`${status} with the key in it`, [respond({ status, body: echo })]] as const
    )
  ]

  it.live.each(faults)("C73 no failure of any operation gives the key away: %s", ([what, script]) =>
    Effect.gen(function* () {
      for (const { call, id } of everyOperation) {
        // Dies by itself where a secret is in any rendering, in a span or in a log.
        const ended = yield* trial({
          plan: { requests: [script] },
          call,
          policy: { attemptTimeout: Duration.millis(100), attempts: 2 }
        })
        assert.strictEqual(ended.requests[0]?.headers["x-service-apikey"], canary.apiKey, `${id}: ${what}`)
        if (Exit.isFailure(ended.exit)) {
          const error = failure(ended, `${id}: ${what}`)
          assert.isEmpty(leaksOf("the error", error), `${id}: ${what}`)
          assert.isEmpty(
            leaksOf("the error, as Effect prints it", Inspectable.toStringUnknown(error)),
            `${id}: ${what}`
          )
          // The name of the header would be there with the request alone.
          assert.notMatch(
            renderings(error)
              .map(([, text]) => text)
              .join(" "),
            /x-service-apikey/i,
            `${id}: ${what}`
          )
        }
      }
    })
  )

  it.live("C73 the check is worth something: what does leak is found", () =>
    Effect.gen(function* () {
      for (const leak of [
        Effect.fail({
          _tag: "Leak",
          message: "x",
          cause: new Error("x", { cause: { headers: { a: [canary.apiKey] } } })
        }),
        Effect.fail({ _tag: "Leak", message: canary.apiKey.toLowerCase() }),
        Effect.die({ deep: { token: canary.token } }),
        Effect.logDebug("key", canary.password),
        Effect.void.pipe(Effect.withSpan("span", { attributes: { url: `https://x/?key=${canary.apiKey}` } })),
        Effect.succeed(new Map([["a", canary.token]])),
        Effect.log(`wrote to ${canaryEmail}`)
      ]) {
        const exit = yield* Effect.exit(observed(leak))
        assert.isTrue(Exit.isFailure(exit))
      }
    })
  )

  it.live(
    "C74 a new token and a new password are redacted wherever they are printed, and come by unwrapping alone",
    () =>
      Effect.gen(function* () {
        for (const [id, secret] of [
          ["securityApikeysPost", canary.token],
          ["securitySmtpPost", canary.password]
        ] as const) {
          const { answer, call } = operationCall(id)
          const ended = yield* trial({
            plan: { requests: [[respond(answer)]] },
            call: Effect.tap(call, (made) => Effect.log("made", made))
          })
          succeeded(ended)
          if (Exit.isFailure(ended.exit)) return
          const made = ended.exit.value
          assert.isEmpty(leaksOf("the result", made))
          assert.include(inspect(made), "redacted")
          assert.include(JSON.stringify(made), "redacted")
          assert.include(ended.printed, "redacted")
          const token: unknown = typeof made === "object" && made !== null && "token" in made ? made.token : undefined
          assert.isTrue(Redacted.isRedacted(token))
          assert.strictEqual(Redacted.isRedacted(token) ? Redacted.value(token) : "", secret)
        }
      })
  )

  it.live("C75 with every log level on, no header, query or body is in a log or a span, and no e-mail", () =>
    Effect.gen(function* () {
      for (const { answer, call, id } of everyOperation) {
        for (const requests of [[[respond(answer)]], [[respond({ status: 500 })]], [[readBody(), reset]]]) {
          const ended = yield* trial({ plan: { requests }, call: Effect.exit(call) })
          assert.notMatch(
            ended.printed,
            /x-service-apikey|idempotency-key|authorization|canary|reporting|mailer|\?[a-z]+=/i,
            id
          )
        }
      }
    })
  )

  it.live("C75 a span says the operation, the status and the attempts", () =>
    Effect.gen(function* () {
      const ended = yield* trial({
        plan: { requests: [[respond({ status: 500 })], [respond(get.answer)]] },
        call: get.call
      })
      assert.match(ended.printed, /ContactsService\.get/)
      assert.match(ended.printed, /200/)
    })
  )

  it.live("C75 no trace headers are sent unless they are asked for", () =>
    Effect.gen(function* () {
      for (const { answer, call, id } of everyOperation) {
        // What the span of a caller ends with is the caller's.
        const within = Effect.withSpan(Effect.asVoid(call), "caller")
        const ended = yield* trial({ plan: { requests: [[respond(answer)]] }, call: within })
        const names = Object.keys(ended.requests[0]?.headers ?? {})
        assert.notInclude(names, "traceparent", id)
        assert.notInclude(names, "b3", id)
      }
    })
  )
})
