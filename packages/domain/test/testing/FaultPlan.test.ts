import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Contact,
  ContactsService,
  CredentialsService,
  EmailAddress,
  EmailsService,
  ExportId,
  FaultPlan,
  layerTestContacts,
  layerTestCredentials,
  layerTestEmails,
  ServiceError
} from "../../src/index.ts"

const email = EmailAddress.make("ann@example.com")

/** A service that counts what it did. */
const counted = () => {
  const done: Array<string> = []
  const layer = layerTestContacts({
    get: (address) =>
      Effect.sync(() => {
        done.push("get")
        return Contact.make({ email: EmailAddress.make(address) })
      }),
    add: (contacts) =>
      Effect.sync(() => {
        done.push("add")
        return Array.from(contacts, ({ email }) => Contact.make({ email }))
      }),
    addWithoutAnswer: () =>
      Effect.sync(() => {
        done.push("add")
        return { keptStatuses: [] }
      }),
    stream: () => Stream.make(Contact.make({ email }), Contact.make({ email: EmailAddress.make("ben@example.com") }))
  })
  return { done, layer }
}

const add = Effect.flatMap(ContactsService, (contacts) => contacts.add([{ email }]))
const get = Effect.flatMap(ContactsService, (contacts) => contacts.get(email))

/** What a call made of it: `ok`, or the tag of the reason. */
const outcome = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.match(call, {
    onSuccess: () => "ok",
    onFailure: (error) => (error instanceof ServiceError ? error.reason._tag : String(error))
  })

const every: ReadonlyArray<FaultPlan.Fault> = [
  FaultPlan.rateLimited(3),
  FaultPlan.unavailable(),
  FaultPlan.unauthorized,
  FaultPlan.cutBefore,
  FaultPlan.cutAfter,
  FaultPlan.cutBody,
  FaultPlan.delay("3 seconds")
]

describe("a fault plan", () => {
  it("says what is wrong where the types are not checked", () => {
    // As of a program in JavaScript.
    const misnamed: object = { "contacts.ad": { 1: FaultPlan.cutAfter } }
    assert.throws(
      () => FaultPlan.make(misnamed),
      /^Invalid fault plan: "contacts\.ad" is not an operation: write one of contacts\.get/
    )
  })

  it.effect("fails the calls that it names by their number, and every build of the layer begins it", () => {
    const { done, layer } = counted()
    const plan = FaultPlan.make({ "contacts.add": { 2: FaultPlan.rateLimited(3), 3: FaultPlan.cutAfter } })
    const run = Effect.gen(function* () {
      const outcomes = yield* Effect.all([outcome(add), outcome(add), outcome(add), outcome(add), outcome(get)])
      assert.deepStrictEqual(outcomes, ["ok", "RateLimited", "OutcomeUnknown", "ok", "ok"])
      assert.deepStrictEqual(done.splice(0), ["add", "add", "add", "get"])
    }).pipe(Effect.provide(layer.pipe(FaultPlan.layer(plan)), { local: true }))
    return Effect.andThen(run, run)
  })

  it.effect("passes the idempotency key of a call on", () => {
    const keys: Array<string | undefined> = []
    const noted = (options?: { readonly idempotencyKey?: string | undefined }) =>
      Effect.sync(() => void keys.push(options?.idempotencyKey))
    const services = Layer.merge(
      layerTestContacts({
        add: (_, options) => Effect.as(noted(options), []),
        addWithoutAnswer: (_, options) => Effect.as(noted(options), { keptStatuses: [] }),
        export: (_, options) =>
          Effect.as(noted(options), {
            id: ExportId.make("3fa85f64-5717-4562-b3fc-2c963f66afa6"),
            link: "https://example.com/1"
          })
      }),
      layerTestEmails({ send: (_, options) => Effect.as(noted(options), {}) })
    )
    return Effect.gen(function* () {
      const contacts = yield* ContactsService
      const emails = yield* EmailsService
      yield* contacts.add([{ email }], { idempotencyKey: "add" })
      yield* contacts.addWithoutAnswer([{ email }], { idempotencyKey: "addWithoutAnswer" })
      yield* contacts.export({}, { idempotencyKey: "export" })
      const message = { recipients: [{ email }], content: { from: "news@example.com" } }
      yield* emails.send(message, { idempotencyKey: "send" })
      assert.deepStrictEqual(keys, ["add", "addWithoutAnswer", "export", "send"])
    }).pipe(Effect.provide(services.pipe(FaultPlan.layer(FaultPlan.make({})))))
  })

  it.effect("says what each fault is, of a write and of a read", () => {
    const { done, layer } = counted()
    const calls = Object.fromEntries(every.slice(0, 6).map((fault, index) => [index + 1, fault]))
    return Effect.gen(function* () {
      const errors = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Effect.flip(add))
      assert.deepStrictEqual(
        errors.map((error) => (error instanceof ServiceError ? error.reason._tag : error._tag)),
        ["RateLimited", "Unavailable", "Unauthorized", "Unavailable", "OutcomeUnknown", "OutcomeUnknown"]
      )
      assert.include(errors[0]?.message ?? "", "in 3 s")
      assert.deepStrictEqual(
        new Set(errors.map((error) => "operation" in error && error.operation)),
        new Set(["contactsPost"])
      )
      assert.deepStrictEqual(done, ["add", "add"])
      const reads = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => outcome(get))
      assert.deepStrictEqual(reads, [
        "RateLimited",
        "Unavailable",
        "Unauthorized",
        "Unavailable",
        "Unavailable",
        "Unavailable"
      ])
    }).pipe(
      Effect.provide(layer.pipe(FaultPlan.layer(FaultPlan.make({ "contacts.add": calls, "contacts.get": calls }))))
    )
  })

  it.effect("takes a dry run of changes for a read, and counts it apart", () => {
    const asked: Array<boolean | undefined> = []
    const layer = layerTestContacts({
      change: (_, { dryRun } = {}) =>
        Effect.sync(() => {
          asked.push(dryRun)
          return []
        })
    })
    const plan = FaultPlan.make({
      "contacts.change": { 2: FaultPlan.cutAfter },
      "contacts.change.dryRun": { 1: FaultPlan.cutAfter, 2: FaultPlan.cutBody, 3: FaultPlan.cutBefore }
    })
    return Effect.gen(function* () {
      const contacts = yield* ContactsService
      const outcomes = yield* Effect.forEach([undefined, true, false, true, true], (dryRun) =>
        outcome(contacts.change([{ email, seen: null, write: {} }], { dryRun }))
      )
      assert.deepStrictEqual(outcomes, ["ok", "Unavailable", "OutcomeUnknown", "Unavailable", "Unavailable"])
      assert.deepStrictEqual(asked, [undefined, true, false, true])
    }).pipe(Effect.provide(layer.pipe(FaultPlan.layer(plan))))
  })

  it.effect("delays a call by the clock", () =>
    Effect.gen(function* () {
      const call = yield* Effect.forkChild(Effect.andThen(get, Clock.currentTimeMillis))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Fiber.join(call), 90_000)
    }).pipe(
      Effect.provide(
        counted().layer.pipe(
          FaultPlan.layer(FaultPlan.make({ "contacts.get": { every: FaultPlan.delay("90 seconds") } }))
        )
      )
    )
  )

  it.effect("cuts a stream after its first element, and counts addWithoutAnswer as add", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const seen: Array<string> = []
      const read = Stream.runForEach(contacts.stream(), (contact) => Effect.sync(() => seen.push(contact.email)))
      assert.strictEqual(yield* outcome(read), "Unavailable")
      assert.deepStrictEqual(seen, [email])
      assert.strictEqual(yield* outcome(add), "ok")
      assert.strictEqual(yield* outcome(contacts.addWithoutAnswer([{ email }])), "Unauthorized")
    }).pipe(
      Effect.provide(
        counted().layer.pipe(
          FaultPlan.layer(
            FaultPlan.make({
              "contacts.list": { 1: FaultPlan.cutBody },
              "contacts.add": { 2: FaultPlan.unauthorized }
            })
          )
        )
      )
    )
  )

  it.effect("gives nothing of a stream whose answer is lost, though it was asked for", () => {
    const asked: Array<string> = []
    return Effect.gen(function* () {
      const contacts = yield* ContactsService
      const seen: Array<string> = []
      const read = Stream.runForEach(contacts.stream(), (contact) => Effect.sync(() => seen.push(contact.email)))
      assert.strictEqual(yield* outcome(read), "Unavailable")
      assert.deepStrictEqual([asked, seen], [[email], []])
    }).pipe(
      Effect.provide(
        layerTestContacts({
          stream: () =>
            Stream.fromEffect(
              Effect.sync(() => {
                asked.push(email)
                return Contact.make({ email })
              })
            )
        }).pipe(FaultPlan.layer(FaultPlan.make({ "contacts.list": { 1: FaultPlan.cutAfter } })))
      )
    )
  })

  it.effect("keeps services apart that it does not name", () =>
    Effect.gen(function* () {
      const { apiKeys, smtp } = yield* CredentialsService
      assert.strictEqual(yield* outcome(apiKeys.list()), "Unauthorized")
      assert.strictEqual(yield* outcome(smtp.list()), "ok")
      assert.strictEqual(yield* outcome(get), "ok")
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          counted().layer,
          layerTestCredentials({
            apiKeys: { list: () => Effect.succeed([]) },
            smtp: { list: () => Effect.succeed([]) }
          })
        ).pipe(FaultPlan.layer(FaultPlan.make({ "apiKeys.list": { every: FaultPlan.unauthorized } })))
      )
    )
  )

  it.effect("is the same as JSON, and names what it does not know", () =>
    Effect.gen(function* () {
      const json = Schema.fromJsonString(FaultPlan.FaultPlan)
      const plan = FaultPlan.make({
        "contacts.add": { 7: FaultPlan.delay("3 seconds"), every: FaultPlan.cutBody },
        "emails.send": {}
      })
      assert.deepStrictEqual(yield* Schema.decodeEffect(json)(yield* Schema.encodeEffect(json)(plan)), plan)
      for (const [text, expected] of [
        ['{"contacts.ad": {}}', '"contacts.ad" is not an operation: write one of contacts.get'],
        ['{"contacts.add": {"0": {"fault": "CutAfter"}}}', '"0" is not a call: write its number from 1 on'],
        ['{"contacts.add": {"1": {"fault": "Cut"}}}', "fault"],
        ['{"contacts.add": {"1": {"fault": "Delay", "seconds": -1}}}', "greater than or equal to 0"]
      ] as const) {
        const exit = yield* Effect.exit(Schema.decodeEffect(json)(text))
        assert.include(Exit.isFailure(exit) ? String(exit.cause) : "it was read", expected)
      }
    })
  )
})
