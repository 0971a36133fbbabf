import { assert, it } from "@effect/vitest"
import { FaultPlan } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { addAll } from "@roster/workflows"
import { Array, Effect, Stream } from "effect"

/** The program under test: it adds customers and keeps those who have to be sent again. */
const sync = (ids: Stream.Stream<number>) =>
  addAll(ids, { toContact: (id) => ({ email: `c${id}@example.com` }), concurrency: 1 }).pipe(
    Stream.filter(({ _tag }) => _tag === "NotSent" || _tag === "Unknown"),
    Stream.map(({ item }) => item),
    Stream.catchTag("Stopped", () => Stream.empty),
    Stream.runCollect
  )

// The second of three batches loses its answer, so the third is not sent, and its fault does not occur.
const plan = FaultPlan.make({ "contacts.add": { 2: FaultPlan.cutAfter, 3: FaultPlan.rateLimited() } })

it.effect("keeps whom an error of the service leaves open", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* sync(Stream.range(1, 2500)), Array.range(1001, 2500))
  }).pipe(Effect.provide(layerMemory().pipe(FaultPlan.layer(plan))))
)
