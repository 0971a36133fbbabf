import { assert, it } from "@effect/vitest"
import { ContactsService, FaultPlan } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Fiber, Layer } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"

const plan = FaultPlan.make({ "contacts.add": { 1: FaultPlan.rateLimited(5) } })

/** The client of production in front of a service in this process, which needs no key. */
const overHttp = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts: 2 } }).pipe(
  Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:", faults: plan }))
)

it.effect("waits as long as the service asks", () =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const statuses: Array<number> = []
    const adding = yield* contacts.add([{ email: "ann@example.com" }]).pipe(
      // Sees the answer to each attempt.
      RosterClient.withClientTransform(HttpClient.tap(({ status }) => Effect.sync(() => statuses.push(status)))),
      Effect.forkChild
    )
    yield* TestClock.adjust("4 seconds")
    assert.deepStrictEqual(statuses, [429])
    // The wait is random, at least what the service asks and at most a second more.
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual((yield* Fiber.join(adding)).length, 1)
    assert.deepStrictEqual(statuses, [429, 200])
  }).pipe(Effect.provide(overHttp))
)
