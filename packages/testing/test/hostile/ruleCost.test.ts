/**
 * S41 What a rule may cost: one that takes too long is stopped, with the same words on every layer, and nothing is done;
 * others are answered meanwhile. The stores are filled from outside.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactFilter, ContactsService, EmailAddress, RuleText, ServiceError } from "@roster/domain"
import { Caller, RosterServer, SqlServices } from "@roster/server"
import { deletionWeight, maximumAccountScans, maximumScans } from "@roster/server/RuleScans"
import { Context, Effect, Fiber, FileSystem, Layer, Path, Redacted, Result } from "effect"
import { DatabaseSync } from "node:sqlite"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { layersOn } from "../../src/layers/ServiceLayers.ts"
import { dial } from "../security/RawServed.ts"

const folder = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  return yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-rule-" })
})

const freshFile = Effect.map(Effect.zip(folder, Path.Path), ([folder, path]) => path.join(folder, "roster.db"))

/** Runs statements on the file, beside the service. */
const change = (filename: string, statements: string) =>
  Effect.sync(() => {
    using store = new DatabaseSync(filename, { timeout: 5000 })
    store.exec(statements)
  })

const contactsLeft = (filename: string) =>
  Effect.sync(() => {
    using store = new DatabaseSync(filename, { readOnly: true, timeout: 5000 })
    return store.prepare("SELECT count(*) AS contacts FROM contacts").get()?.["contacts"]
  })

const added = (contacts: number, account = "") => `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${contacts})
  INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
  SELECT '${account}', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active',
    json_object('a', hex(zeroblob(250))), 'ContactApi', 1700000000 FROM n`

/** As long as an address can carry, and asked of every contact to its end, at every character of a field. */
const costly = RuleText.make(Array.from({ length: 200 }, (_, n) => `a not-contains '0${n + 100}'`).join(" AND "))

/** Enough to keep a scan of the costly rule at work for seconds. */
const many = 20_000

const byRule = (rule: string) => ContactFilter.ByRule({ rule: RuleText.make(rule) })

const as = (account: string) => Effect.provideService(Caller, { account })

/** The reason of a refusal, whose text is the same on every layer. */
const reasonOf = Effect.fnUntraced(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
  const error: unknown = yield* Effect.flip(call)
  if (!(error instanceof ServiceError)) return assert.fail(`it failed with ${String(error)}`)
  const { reason } = error
  if (reason._tag !== "Unavailable" && reason._tag !== "RateLimited")
    return assert.fail(`it failed with ${reason._tag}`)
  return { tag: String(reason._tag), detail: reason.detail, retryAfter: reason.retryAfter }
})

for (const [name, layerOn] of Object.entries(layersOn)) {
  describe(`the cost of a rule: ${name}`, () => {
    it.live("S41 is bounded by a deadline, after which nothing was deleted", () =>
      Effect.gen(function* () {
        const filename = yield* freshFile
        yield* Effect.gen(function* () {
          const contacts = yield* ContactsService
          yield* change(filename, added(many))
          const expected = {
            tag: "Unavailable",
            detail:
              "the rule was stopped after 0.5 s, and nothing was done; use a rule with fewer conditions, or export the contacts, which has no such limit",
            retryAfter: 120
          }
          assert.deepStrictEqual(yield* reasonOf(contacts.list({ rule: costly, offset: many })), expected)
          assert.deepStrictEqual(yield* reasonOf(contacts.deleteMany(byRule(costly))), expected)
          assert.strictEqual(yield* contactsLeft(filename), many)
          yield* change(filename, "DELETE FROM contacts WHERE id > 10")
          assert.strictEqual((yield* contacts.list({ rule: costly })).length, 10)
          yield* contacts.deleteMany(byRule(costly))
          assert.strictEqual(yield* contactsLeft(filename), 0)
        }).pipe(Effect.provide(layerOn(filename, { ruleDeadline: "500 millis" })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )

    it.live("S41 keeps nobody waiting while many rules of an account run", () =>
      Effect.gen(function* () {
        const filename = yield* freshFile
        yield* Effect.gen(function* () {
          const contacts = yield* ContactsService
          yield* change(filename, added(many))
          // Our client has 16 connections.
          const long = contacts.list({ rule: costly, offset: many })
          const scans = yield* Effect.forEach(Array(12), () => Effect.forkScoped(long, { startImmediately: true }))
          for (let n = 1; n <= 50; n++) {
            assert.strictEqual((yield* contacts.get(`p${n}@example.com`)).email, `p${n}@example.com`)
          }
          yield* contacts.add([{ email: EmailAddress.make("new@example.com") }])
          assert.isTrue(scans.every((scan) => scan.pollUnsafe() === undefined))
          yield* Fiber.interruptAll(scans)
        }).pipe(Effect.provide(layerOn(filename, { ruleDeadline: "1 hour" })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  })
}

describe("rules of several accounts", () => {
  it.live(`S41 take turns, up to ${maximumScans} at one time`, () =>
    Effect.gen(function* () {
      const filename = yield* freshFile
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* change(filename, added(many) + ";" + added(10, "small"))
        const long = contacts.list({ rule: costly, offset: many })
        const scans = yield* Effect.forEach(Array(maximumAccountScans), () =>
          Effect.forkScoped(long, { startImmediately: true })
        )
        const beyond = yield* eventually(
          Effect.result(contacts.list({ rule: RuleText.make("a = 1") })),
          Result.isFailure
        )
        assert.deepStrictEqual(yield* reasonOf(Effect.fromResult(beyond)), {
          tag: "RateLimited",
          detail:
            "its calls with a rule have reached their bound, 32 lists or 4 bulk deletes at a time. Wait until some of them are answered.",
          retryAfter: 10
        })
        const others = scans.slice(deletionWeight)
        yield* Fiber.interruptAll(scans.slice(0, deletionWeight))
        yield* Effect.forkScoped(contacts.deleteMany(byRule(costly)), { startImmediately: true })
        assert.strictEqual((yield* reasonOf(contacts.list({ rule: costly }))).tag, "RateLimited")
        const short = contacts.list({ rule: costly }).pipe(as("small"))
        assert.strictEqual((yield* short).length, 10)
        assert.isTrue(others.every((scan) => scan.pollUnsafe() === undefined))
        // The share of the main account is beside that of all others.
        let ofOthers: ReadonlyArray<Fiber.Fiber<unknown, unknown>> = []
        for (let n = 0; n * maximumAccountScans < maximumScans; n++) {
          yield* change(filename, added(1000, `many${n}`))
          ofOthers = yield* Effect.forEach(Array(maximumAccountScans), () =>
            Effect.forkScoped(contacts.list({ rule: costly, offset: many }).pipe(as(`many${n}`)), {
              startImmediately: true
            })
          )
        }
        assert.deepStrictEqual(yield* reasonOf(short), {
          tag: "Unavailable",
          detail: "its calls with a rule have reached their bound",
          retryAfter: 10
        })
        yield* Fiber.interruptAll(ofOthers)
        assert.strictEqual((yield* short).length, 10)
      }).pipe(Effect.provide(SqlServices.layer({ filename, ruleDeadline: "1 hour" })))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a rule whose client has gone", () => {
  it.live("S41 is looked for no more", () =>
    Effect.gen(function* () {
      const filename = yield* freshFile
      let key = ""
      const services = yield* Layer.build(
        RosterServer.layer({
          port: 0,
          store: { filename, ruleDeadline: "1 hour" },
          onAdministratorKey: (given) => Effect.sync(() => (key = Redacted.value(given)))
        })
      )
      const { address } = Context.get(services, RosterServer.RosterServer)
      yield* change(filename, added(many))
      const list = (rule: string, offset: number) =>
        dial(
          { address, key },
          `GET /v4/contacts?offset=${offset}&rule=${encodeURIComponent(rule)} HTTP/1.1\r\nHost: localhost\r\nX-Service-ApiKey: ${key}\r\n\r\n`
        )
      const answer = Effect.flatMap(list("a != ''", 0), (call) => call.until(/^HTTP[^]*\r\n\r\n/))
      const scans = yield* Effect.forEach(Array(maximumAccountScans), () => list(costly, many))
      yield* eventually(answer, (head) => /^HTTP\/1.1 429 [^]*\r\nretry-after: 10\r\n/i.test(head))
      for (const { socket } of scans) socket.destroy()
      yield* eventually(answer, (head) => head.startsWith("HTTP/1.1 200"))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
