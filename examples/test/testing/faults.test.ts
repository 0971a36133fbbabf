import { assert, it } from "@effect/vitest"
import { ContactsService, FaultPlan } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"

/** The program under test: it tries again while the service is busy, and looks if it cannot know. */
const subscribe = Effect.fnUntraced(function* (email: string) {
  const contacts = yield* ContactsService
  return yield* contacts.add([{ email }]).pipe(
    Effect.retry({
      schedule: Schedule.exponential("1 second"),
      times: 3,
      while: (error) => error._tag === "ServiceError" && error.isRetryable
    }),
    Effect.as("subscribed"),
    Effect.catchReason("ServiceError", "OutcomeUnknown", () => Effect.as(contacts.get(email), "subscribed, it seems"))
  )
})

const plan = FaultPlan.make({
  "contacts.add": { 1: FaultPlan.rateLimited(), 2: FaultPlan.unavailable(), 4: FaultPlan.cutAfter }
})

it.effect("subscribes once, whatever the service does", () =>
  Effect.gen(function* () {
    const first = yield* Effect.forkChild(subscribe("ann@example.com"))
    yield* TestClock.adjust("3 seconds")
    assert.strictEqual(yield* Fiber.join(first), "subscribed")
    assert.strictEqual(yield* subscribe("ben@example.com"), "subscribed, it seems")
    const contacts = yield* ContactsService
    assert.strictEqual((yield* contacts.list()).length, 2)
  }).pipe(Effect.provide(layerMemory().pipe(FaultPlan.layer(plan))))
)
