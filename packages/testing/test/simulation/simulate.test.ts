/** The simulator itself: a seed is one run, what it finds is made small and repeats, and time waits for all that can run. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, CredentialsService, EmailsService, FaultPlan, sometimes } from "@roster/domain"
import { createWithRetry, importContacts } from "@roster/workflows"
import { Cause, Clock, Deferred, Effect, Exit, Layer, Random, Redacted, Ref, Stream } from "effect"
import { layerMemory, withRuns } from "../../src/layers/ServiceLayers.ts"
import { runOnce } from "../../src/simulation/SimulatedRun.ts"
import { simulate } from "../../src/simulation/Simulation.ts"

const counted = (count: Ref.Ref<number>) =>
  Effect.gen(function* () {
    const seen = yield* Ref.get(count)
    yield* Effect.yieldNow
    yield* Ref.set(count, seen + 1)
  })

/** Callers that each read, yield and write, so that some orders lose a count. */
const losing = Effect.map(Ref.make(0), (count) => ({
  layer: () => Layer.effectDiscard(Ref.set(count, 0)),
  callers: { one: counted(count), two: counted(count), three: counted(count) },
  invariant: () => Effect.map(Ref.get(count), (all) => assert.strictEqual(all, 3))
}))

const one = "one@example.com"

const mixed = {
  layer: (faults: FaultPlan.FaultPlan) => layerMemory.pipe(FaultPlan.layer(faults)),
  callers: {
    adds: ContactsService.use((contacts) => contacts.add([{ email: one }, { email: "two@example.com" }])),
    deletes: ContactsService.use((contacts) => contacts.deleteMany({ _tag: "ByRule", rule: "status = 'Active'" })),
    waits: Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* Effect.sleep(yield* Random.nextIntBetween(1, 1000))
      return yield* contacts.list()
    })
  },
  faults: {
    "contacts.add": [FaultPlan.cutAfter, FaultPlan.delay("3 seconds")],
    "contacts.list": [FaultPlan.cutBefore]
  },
  invariant: () => Effect.void
} as const

describe("simulate", () => {
  it.live("runs a seed twice in the same order", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 15; seed++) {
        const [first, again] = [yield* runOnce(mixed, { seed }), yield* runOnce(mixed, { seed })]
        assert.deepStrictEqual(again, first)
      }
    })
  )

  it.live("makes the same ids, keys and secrets of a seed again, and others of another", () =>
    Effect.gen(function* () {
      const made = Effect.fnUntraced(function* (seed: number) {
        let texts: ReadonlyArray<string> = []
        const program = Effect.gen(function* () {
          const contacts = yield* ContactsService
          const { apiKeys } = yield* CredentialsService
          const emails = yield* EmailsService
          const key = yield* createWithRetry(apiKeys, { name: "ci", accessLevels: ["Security"] })
          const exported = yield* contacts.export()
          const sent = yield* emails.send({
            recipients: [{ email: one }],
            content: {
              from: "shop@example.com",
              subject: "Hello",
              body: [{ contentType: "PlainText", content: "Hello" }]
            }
          })
          const { run } = yield* importContacts(Stream.make({ email: one }))
          texts = [Redacted.value(key.token), exported.id, sent.messageId ?? "", sent.transactionId ?? "", run ?? ""]
        })
        const ran = yield* runOnce(
          {
            layer: () => withRuns(layerMemory),
            callers: { program },
            invariant: () => Effect.sync(() => assert.isTrue(texts.every((text) => text !== "")))
          },
          { seed }
        )
        assert.isUndefined(ran.problem)
        return texts
      })
      const [first, again, other] = [yield* made(1), yield* made(1), yield* made(2)]
      assert.deepStrictEqual(again, first)
      assert.strictEqual(new Set([...first, ...other]).size, 10)
    })
  )

  it.live("finds an order that Effect's own scheduler does not have, and makes it small", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(simulate(yield* losing))
      assert.match(failed.problem, /expected 2 to equal 3|expected 1 to equal 3/)
      assert.isAtMost(failed.repeat.split(" ").length, 3)
      const again = yield* Effect.flip(simulate(yield* losing, { repeat: failed.repeat }))
      assert.deepStrictEqual(again.message, failed.message)
      assert.include(failed.message, `simulate(simulation, { repeat: "${failed.repeat}" })`)
    })
  )

  it.live("moves no time while anything can run", () =>
    Effect.gen(function* () {
      const inTime = ContactsService.use((contacts) =>
        Effect.timeout(contacts.add([{ email: one }]), "1 milli").pipe(Effect.andThen(Effect.sleep("5 days")))
      )
      yield* simulate(
        {
          layer: () => layerMemory,
          callers: { one: inTime, two: inTime },
          invariant: (exits) =>
            Effect.gen(function* () {
              assert.isTrue(Object.values(exits).every(Exit.isSuccess))
              assert.strictEqual(yield* Clock.currentTimeMillis, 5 * 86_400_000)
            })
        },
        { seeds: 3 }
      )
    })
  )

  it.live("says what waits for ever, dies or fails to start", () =>
    Effect.gen(function* () {
      const only = <A, E>(caller: Effect.Effect<A, E>) =>
        Effect.flip(simulate({ layer: () => Layer.empty, callers: { caller }, invariant: () => Effect.void }))
      assert.include((yield* only(Effect.flatMap(Deferred.make(), Deferred.await))).problem, "nothing will wake them")
      assert.include((yield* only(Effect.forever(Effect.sleep("1 hour")))).problem, "it had not ended after 125d")
      assert.include((yield* only(Effect.die(new Error("a bug")))).problem, "caller died: Error: a bug")
      const unmade = {
        callers: {},
        invariant: () => Effect.void,
        layer: () => Layer.effectDiscard(Effect.fail("none"))
      }
      assert.include((yield* Effect.flip(simulate(unmade))).problem, "none")
      const exit = yield* Effect.exit(simulate(yield* losing, { repeat: "y1 17" }))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", '"y1 17" is no order')
    })
  )

  it.live("interrupts a caller at a mark for some seeds, runs it again, and only if it may", () =>
    Effect.gen(function* () {
      const begun: Array<number> = []
      const beginnings = (interruptions: boolean) =>
        Effect.gen(function* () {
          begun.length = 0
          const caller = Effect.andThen(
            Effect.sync(() => void (begun[begun.length - 1] = (begun.at(-1) ?? 0) + 1)),
            sometimes("it has begun")
          )
          const { marks, unreachedMarks } = yield* simulate(
            {
              layer: () => Layer.effectDiscard(Effect.sync(() => void begun.push(0))),
              callers: { caller },
              interruptions,
              marks: ["it has begun", "it never comes"],
              invariant: ({ caller }) => Effect.sync(() => assert.isTrue(Exit.isSuccess(caller)))
            },
            { seeds: 60 }
          )
          assert.deepStrictEqual([marks, unreachedMarks], [["it has begun"], ["it never comes"]])
          return new Set(begun)
        })
      assert.deepStrictEqual(yield* beginnings(false), new Set([1]))
      assert.deepStrictEqual(yield* beginnings(true), new Set([1, 2]))
    })
  )

  it.live("waits for all fibers of a caller that it interrupts", () =>
    Effect.gen(function* () {
      let atWork = 0
      const left = new Set<number>()
      const work = Effect.gen(function* () {
        atWork++
        yield* sometimes("it is at work")
        yield* Effect.sleep(10)
        atWork--
      })
      const caller = Stream.make(1, 2).pipe(
        Stream.mapEffect(() => Effect.uninterruptible(work), { concurrency: 2, unordered: true }),
        Stream.runDrain,
        Effect.onExit(() => Effect.sync(() => void left.add(atWork)))
      )
      const callers = { caller }
      yield* simulate({ layer: () => Layer.empty, callers, interruptions: true, invariant: () => Effect.void })
      assert.deepStrictEqual(left, new Set([0]))
    })
  )

  it.live("counts the orders that were new", () =>
    Effect.gen(function* () {
      const report = yield* simulate(mixed, { seeds: 30 })
      assert.strictEqual(report.runs, 30)
      assert.isAtLeast(report.orders, 15)
      assert.strictEqual(report.newOrders, report.orders)
    })
  )
})
