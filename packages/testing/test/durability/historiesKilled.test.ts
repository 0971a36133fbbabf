/**
 * S74 Sixteen clients over a network that breaks, and a service that is killed: the history of each key has an
 * explanation.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactFilter, ContactsService, EmailAddress, ServiceError } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Duration, Effect, Exit, Layer, Redacted } from "effect"
import { type KeyHistory, makeHistory, type Outcome } from "../../src/durability/KeyHistory.ts"
import { killableServe, type ServePlace, servePlace } from "../../src/durability/KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/durability/LongRun.ts"
import { assertWhole, contactsIn } from "../../src/durability/StoreLook.ts"
import { faultProxy } from "../../src/faults/server/FaultProxy.ts"
import { printSurvivors } from "../../src/faults/Survivors.ts"

const clients = 16

/** Each has two kills: one that the clients survive, and one that ends them. */
const rounds = amount({ ci: 1, long: 100 })

/** Few, so that clients meet. */
const emails = Array.from({ length: 24 }, (_, index) => EmailAddress.make(`shared${index}@example.com`))

/** Of a piece of data that the proxy passes on. */
const faultRate = 0.03

/** What each key holds, read from the file. */
const held = (place: ServePlace) => new Map(contactsIn(place).map(({ email, first_name }) => [email, first_name ?? ""]))

type Contacts = ContactsService["Service"]

/** A random call, noted in the history. */
const someCall = Effect.fnUntraced(function* (
  contacts: Contacts,
  history: KeyHistory,
  random: () => number,
  value: string
) {
  const pick = () => emails[Math.floor(random() * emails.length)] ?? assert.fail("there are no keys")
  const email = pick()
  const kind = random()
  /** Runs a write of keys; a contact that is missing is a read of nothing, after a write that may have been undone. */
  const writing = <A>(
    keys: ReadonlyArray<string>,
    written: string | undefined,
    call: Effect.Effect<A, { readonly _tag: string }>
  ) =>
    Effect.gen(function* () {
      const unique = [...new Set(keys)]
      const read = history.read(email)
      const ends = unique.map((key) => history.write(key, written))
      const end = (outcome: Outcome) => {
        for (const one of ends) one(outcome)
        return outcome
      }
      return yield* Effect.match(call, {
        onSuccess: () => end("ok"),
        onFailure: (error) => {
          if (error._tag === "ContactNotFound") {
            read(undefined)
            return end("unknown")
          }
          if (!(error instanceof ServiceError)) return assert.fail(error._tag)
          return end(error.mayHaveHappened ? "unknown" : "failed")
        }
      })
    })
  if (kind < 0.35) {
    const keys = Array.from({ length: 1 + Math.floor(random() * 3) }, pick)
    return yield* writing(keys, value, contacts.add(keys.map((key) => ({ email: key, firstName: value }))))
  }
  if (kind < 0.55) return yield* writing([email], value, contacts.update(email, { firstName: value }))
  if (kind < 0.65) return yield* writing([email], undefined, contacts.delete(email))
  if (kind < 0.7) {
    return yield* writing([email], undefined, contacts.deleteMany(ContactFilter.ByEmails({ emails: [email] })))
  }
  const read = history.read(email)
  const exit = yield* Effect.exit(contacts.get(email))
  if (Exit.isSuccess(exit)) read(exit.value.firstName ?? "")
  else if (
    Exit.findErrorOption(exit).pipe((error) => error._tag === "Some" && error.value._tag === "ContactNotFound")
  ) {
    read(undefined)
  }
  return undefined
})

/** Half of the clients try once, so that many of their calls end without anybody knowing how. */
const clientOf = (port: number, apiKey: string, index: number) =>
  Effect.map(
    Layer.build(
      RosterClient.layer({
        baseUrl: `http://127.0.0.1:${port}/v4`,
        apiKey: Redacted.make(apiKey),
        retry: { attempts: index % 2 === 0 ? 1 : 3, base: Duration.millis(10), attemptTimeout: Duration.seconds(5) }
      }).pipe(Layer.provide(Layer.fresh(UndiciHttpClient.layer())))
    ),
    (context) => Effect.provideContext(ContactsService, context)
  )

describe("S.5 histories of keys", () => {
  it.live(
    `S74 after ${2 * rounds} kills every ok of ${clients} clients is visible, no fail is, and unknown is either`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S74"))
        const place = yield* servePlace
        const proxy = yield* faultProxy({ random, rate: faultRate })
        const counts = { ok: 0, unknown: 0, failed: 0, reads: 0 }
        let version = 0
        for (let round = 0; round < rounds; round++) {
          const history = makeHistory(round === 0 ? new Map() : held(place), () => performance.now())
          const state = { isOver: false }
          let calls = 0
          let atCall = 100 + Math.floor(random() * 300)
          let onCall = () => {}
          const serving = Effect.fnUntraced(function* (isLast: boolean) {
            const serve = yield* killableServe(place)
            onCall = () => {
              if (calls < atCall) return
              onCall = () => {}
              state.isOver = isLast
              serve.killNow()
            }
            yield* proxy.leadTo(Number(new URL(serve.baseUrl).port))
            return serve
          })
          yield* Effect.scoped(
            Effect.gen(function* () {
              const first = yield* serving(false)
              const run = Effect.fnUntraced(function* (index: number) {
                const contacts = yield* yield* clientOf(proxy.port, first.apiKey, index)
                while (!state.isOver) {
                  const outcome = yield* someCall(contacts, history, random, `v${++version}`)
                  counts[outcome ?? "reads"]++
                  calls++
                  onCall()
                }
              }, Effect.scoped)
              const serveTwice = Effect.gen(function* () {
                yield* first.ended
                // Now broken off, now refused.
                if (random() < 0.5) yield* proxy.refuse
                atCall = calls + 100 + Math.floor(random() * 300)
                const second = yield* serving(true)
                yield* second.ended
              })
              yield* Effect.all([serveTwice, ...Array.from({ length: clients }, (_, index) => run(index))], {
                concurrency: "unbounded"
              })
            })
          )
          assertWhole(place)
          const values = held(place)
          for (const email of emails) history.read(email)(values.get(email))
          assert.deepStrictEqual(history.issues(), [])
        }
        process.stdout.write(
          `S74: ${2 * rounds} kills, ${proxy.faults()} faults, ${counts.reads} reads, ${counts.ok} ok, ` +
            `${counts.unknown} unknown, ${counts.failed} failed\n`
        )
        assert.isAbove(counts.ok, 0)
        assert.isAbove(counts.unknown, 0)
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 60 * 60_000 : 60_000
  )

  printSurvivors("S.5 histories of keys")
})

describe("a history", () => {
  /** A clock that goes on with each look. */
  const clock = () => {
    let time = 0
    return () => time++
  }

  it("has no explanation for a write that is lost, one that failed, and one that was replaced", () => {
    for (const [outcome, then, isExplained] of [
      ["ok", undefined, false],
      ["ok", "b", true],
      ["ok", "a", false],
      ["unknown", "a", true],
      ["unknown", "b", true],
      ["failed", "a", true],
      ["failed", "b", false],
      ["ok", "c", false]
    ] as const) {
      const history = makeHistory(new Map([["k", "a"]]), clock())
      history.write("k", "b")(outcome)
      history.read("k")(then)
      assert.strictEqual(history.issues().length === 0, isExplained, `${outcome} ${then}`)
    }
  })

  it("explains either of two writes at the same time, and one that a later read shows again", () => {
    const history = makeHistory(new Map(), clock())
    const [a, b] = [history.write("k", "a"), history.write("k", "b")]
    history.read("k")(undefined)
    a("ok")
    b("ok")
    history.read("k")("a")
    assert.deepStrictEqual(history.issues(), [])
    history.write("k", undefined)("ok")
    history.read("k")("a")
    assert.strictEqual(history.issues().length, 1)
  })
})
