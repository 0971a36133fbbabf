/**
 * S74 Clients behind a bad network and a service that is killed: what a client reported as done is there, what it reported
 * as failed is not, and what it reported as unknown is one of both.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress, ServiceError } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { killableServe, type ServePlace, servePlace } from "../../src/durability/KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/durability/LongRun.ts"
import { assertWhole, contactsIn } from "../../src/durability/StoreLook.ts"
import { faultProxy } from "../../src/faults/server/FaultProxy.ts"
import { printSurvivors } from "../../src/faults/Survivors.ts"

const clients = 16
const keysPerClient = 3
const kills = amount({ ci: 2, long: 100 })

/** What a contact holds: the version that wrote it, or nothing where there is none. */
type Value = string | undefined

/** The history of a contact that one client writes, in so far as it matters for what comes. */
interface Key {
  readonly email: EmailAddress
  /** What the last write that was reported as done left. */
  known: Value
  /** What writes with an unknown outcome would leave, at any time until the process is killed. */
  readonly perhaps: Set<Value>
}

interface Count {
  done: number
  unknown: number
  failed: number
  version: number
}

const allows = ({ known, perhaps }: Key, value: Value): boolean => value === known || perhaps.has(value)

const told = (key: Key): string => `${key.email}: ${key.known}, or ${[...key.perhaps].join(", ")}`

/** Carries out a random operation on a key, and notes what the client says of it. */
const operate = Effect.fnUntraced(function* (
  contacts: ContactsService["Service"],
  key: Key,
  random: () => number,
  count: Count
) {
  const { email } = key
  const kind = random()
  const version = `v${++count.version}`
  if (kind < 0.25) {
    const found = yield* contacts.get(email).pipe(
      Effect.map(({ firstName }): Value => firstName),
      Effect.catchTags({ ContactNotFound: () => Effect.undefined, ServiceError: () => Effect.succeed("unread") })
    )
    assert.isTrue(found === "unread" || allows(key, found), `read ${found} of ${told(key)}`)
    return
  }
  const value = kind < 0.85 ? version : undefined
  const write: Effect.Effect<unknown, unknown> =
    kind < 0.55
      ? contacts.add([{ email, firstName: version }])
      : kind < 0.85
        ? contacts.update(email, { firstName: version })
        : contacts.delete(email)
  // What is under way when the process is killed is unknown too, until it is said otherwise.
  const isNew = !key.perhaps.has(value)
  key.perhaps.add(value)
  yield* Effect.matchEffect(write, {
    onSuccess: () =>
      Effect.sync(() => {
        count.done++
        key.known = value
        if (isNew) key.perhaps.delete(value)
      }),
    onFailure: (error) =>
      Effect.sync(() => {
        if (error instanceof ServiceError && error.reason._tag === "OutcomeUnknown") {
          count.unknown++
          return
        }
        count.failed++
        if (isNew) key.perhaps.delete(value)
        if (!(error instanceof ServiceError)) assert.isTrue(allows(key, undefined), `not found: ${told(key)}`)
      })
  })
})

/** Compares the store with what the clients were told, and settles what they did not know. */
const settle = (place: ServePlace, keys: ReadonlyArray<Key>): void => {
  const stored = new Map(contactsIn(place).map(({ email, first_name }) => [email, first_name ?? undefined]))
  for (const key of keys) {
    const value = stored.get(key.email)
    assert.isTrue(allows(key, value), `found ${value} of ${told(key)}`)
    key.known = value
    key.perhaps.clear()
  }
}

describe("S.5 clients, faults and kills", () => {
  printSurvivors("S.5 clients, faults and kills")

  it.live(
    `S74 ${clients} clients behind a proxy that breaks connections, the service killed ${kills} times: each was told the truth`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S74"))
        const place = yield* servePlace
        const proxy = yield* faultProxy(random, { refused: 0.05, answerLost: 0.08, answerCut: 0.05 })
        const count: Count = { done: 0, unknown: 0, failed: 0, version: 0 }
        const all = Array.from({ length: clients }, (_, client) =>
          Array.from({ length: keysPerClient }, (_, key): Key => ({
            email: EmailAddress.make(`k${key}@c${client}.example`),
            known: undefined,
            perhaps: new Set()
          }))
        )
        for (let kill = 0; kill < kills; kill++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const serve = yield* killableServe(place)
              proxy.leadTo(Number(new URL(serve.baseUrl).port))
              let left = 60 + Math.floor(random() * 140)
              const worker = Effect.fnUntraced(function* (keys: ReadonlyArray<Key>) {
                const client = yield* Layer.build(
                  RosterClient.layer({
                    baseUrl: `http://127.0.0.1:${proxy.port}/v4`,
                    apiKey: Redacted.make(serve.apiKey),
                    retry: { base: Duration.millis(5), attemptTimeout: Duration.seconds(10) }
                  })
                )
                const contacts = Context.get(client, ContactsService)
                while (left > 0) {
                  const key = keys[Math.floor(random() * keys.length)]
                  if (key !== undefined) yield* operate(contacts, key, random, count)
                  left--
                  if (left === 0) serve.killNow()
                }
              })
              yield* Effect.forEach(all, worker, { concurrency: "unbounded", discard: true })
              yield* serve.ended
            }).pipe(Effect.provide(UndiciHttpClient.layer()))
          )
          settle(place, all.flat())
          assertWhole(place)
        }
        process.stdout.write(
          `S74: ${kills} kills, ${proxy.faults()} broken connections: ${count.done} done, ${count.failed} failed, ${count.unknown} unknown, none otherwise than told\n`
        )
        assert.isAbove(count.done, 0)
        assert.isAbove(count.unknown, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    longRun ? 60 * 60_000 : 60_000
  )
})
