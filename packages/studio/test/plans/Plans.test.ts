/** The plans of the page, without a browser: stopped in the middle and done again, and kept where the browser likes. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, maximumChanges, ServiceError, Unavailable } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { planUpdate, type PlanStorage } from "@roster/workflows"
import { Context, Effect, Layer, Stream } from "effect"
import { blobOf, bytesOf } from "../../src/kit/Blobs.ts"
import * as ContactPlan from "../../src/plans/ContactPlan.ts"
import { studioOn, studioStore } from "../StudioStore.ts"

const count = 4 * maximumChanges

const filled = Effect.gen(function* () {
  const store = yield* studioStore
  const contacts = yield* store.contacts
  for (let at = 0; at < count; at += 1000) {
    yield* contacts.add(Array.from({ length: 1000 }, (_, index) => ({ email: `c${at + index}@example.com` })))
  }
  return { ...store, contacts }
})

const all = {
  _tag: "Change",
  meant: { _tag: "ByRule", rule: "All" },
  to: { field: "firstName", value: "Ada" }
} as const

describe("a plan of the page", () => {
  it.effect("is stopped between two calls, and done again does the rest", () =>
    Effect.gen(function* () {
      const { contacts, mount, registry, run } = yield* filled
      const planned = yield* run(ContactPlan.plan, all)
      assert.deepInclude(planned, { count, isSevere: true })
      assert.strictEqual(registry.get(ContactPlan.progress), count)
      yield* mount(ContactPlan.isStopped)
      const unsubscribe = registry.subscribe(ContactPlan.progress, (done) => {
        if (done > 0) registry.set(ContactPlan.isStopped, true)
      })
      const stopped = yield* run(ContactPlan.apply, planned)
      unsubscribe()
      assert.strictEqual(stopped.changed + stopped.notSent, count)
      assert.isTrue(stopped.changed > 0)
      assert.strictEqual(registry.get(ContactPlan.isLeft), stopped.notSent > 0)
      const again = yield* run(ContactPlan.plan, all)
      assert.strictEqual(again.count, stopped.notSent)
      assert.include(yield* run(ContactPlan.apply, again), { changed: stopped.notSent, notSent: 0 })
      assert.strictEqual((yield* contacts.count({ rule: "firstname = 'Ada'" })).count, count)
    })
  )

  it.effect("goes on where an error stopped it, with nothing planned or written twice", () =>
    Effect.gen(function* () {
      const down = new ServiceError({
        operation: "contactsChangesPost",
        reason: new Unavailable({ detail: "it is away" })
      })
      let calls = 0
      const failing = Layer.effectContext(
        Effect.map(Layer.build(Layer.fresh(layerMemory())), (context) => {
          const contacts = Context.get(context, ContactsService)
          const change: typeof contacts.change = (changes, options) =>
            options?.dryRun === true || ++calls > 1 ? contacts.change(changes, options) : Effect.fail(down)
          return Context.add(context, ContactsService, { ...contacts, change })
        })
      )
      const { contacts, registry, run } = yield* studioOn(failing)
      yield* (yield* contacts).add([{ email: "a@example.com" }, { email: "b@example.com" }])
      const planned = yield* run(ContactPlan.plan, all)
      assert.isDefined((yield* run(ContactPlan.apply, planned)).stoppedBy)
      assert.isTrue(registry.get(ContactPlan.isLeft))
      const left = registry.get(ContactPlan.applied) ?? assert.fail("nothing is left")
      assert.include(yield* run(ContactPlan.apply, left), { changed: 2, stoppedBy: undefined })
      assert.isFalse(registry.get(ContactPlan.isLeft))
      assert.include(yield* run(ContactPlan.apply, left), { changed: 0 })
    })
  )

  it.effect("is not read to its end once nothing more of it is written", () =>
    Effect.gen(function* () {
      const { ask } = yield* filled
      const parts: Array<Uint8Array> = []
      let read = 0
      const storage: PlanStorage = {
        write: (content) => Stream.runForEach(content, (part) => Effect.sync(() => parts.push(part))),
        content: Stream.suspend(() =>
          Stream.fromIterable(parts).pipe(
            Stream.rechunk(1),
            Stream.tap(() => Effect.sync(() => read++))
          )
        )
      }
      const contacts = Stream.unwrap(ContactsService.use((service) => Effect.succeed(service.stream())))
      const plan = yield* ask(planUpdate(contacts, { firstName: "Ada" }, { storage }))
      assert.isTrue(parts.length > 4)
      const { report } = yield* ask(plan.applyWith({ proceed: Effect.succeed(false), concurrency: 1 }))
      assert.deepInclude(report, { read: count, notSent: count, done: 0 })
      assert.isBelow(read, parts.length - 1)
    })
  )

  it.effect("is kept as it was written, whatever its size", () =>
    Effect.gen(function* () {
      const parts = [0, 1, 4_194_304, 5_000_000, 7].map((size, at) => new Uint8Array(size).fill(at))
      const kept = yield* blobOf(Stream.fromIterable(parts), "text/plain")
      const read = yield* Stream.runCollect(bytesOf(kept, () => "lost" as const))
      assert.isTrue(Buffer.concat(read).equals(Buffer.concat(parts)))
    })
  )
})
