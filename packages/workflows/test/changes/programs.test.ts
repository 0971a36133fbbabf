/** What others do in between, which a fake shows best; the programs on real services are in packages/testing/test/workflows. */
import { assert, describe, it } from "@effect/vitest"
import type { ContactPayload } from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import { changeAsRun, importContacts, listRuns, loadPlan, planImport, RunLog, undoRun } from "../../src/index.ts"
import { makeRunLog, memoryStorage } from "../../src/runs/RunLog.ts"
import { makeFake } from "./fakeContacts.ts"

const rowsOf = (count: number): ReadonlyArray<ContactPayload> =>
  Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com`, firstName: `N${index}` }))

const withFake = () => {
  const fake = makeFake()
  return { fake, layer: Layer.merge(fake.layer, RunLog.layerMemory()) }
}

describe("A plan", () => {
  it.effect("can be applied in another process, and not to another target", () => {
    const { fake, layer } = withFake()
    return Effect.gen(function* () {
      const plan = yield* planImport(Stream.fromIterable(rowsOf(3)))
      const loaded = yield* loadPlan(plan.content)
      assert.deepStrictEqual(loaded.summary, plan.summary)
      const other = yield* Effect.flip(Effect.provide(loadPlan(plan.content), RunLog.layerMemory({ target: "other" })))
      assert.strictEqual(other._tag, "OtherTarget")
      const half = Stream.map(plan.content, (bytes) => bytes.subarray(0, bytes.length - 20))
      assert.strictEqual((yield* Effect.flip(loadPlan(half)))._tag, "UnreadablePlan")
      const text = yield* Stream.mkString(Stream.decodeText(plan.content))
      const former = Stream.encodeText(
        Stream.make(text.replace('"roster contacts","version":4', '"roster contacts import","version":2'))
      )
      assert.match(
        (yield* Effect.flip(loadPlan(former))).message,
        /of version 2, and this Roster reads plans of version 4/
      )
      assert.deepInclude((yield* loaded.apply).report, { done: 3, new: 3 })
      assert.strictEqual(fake.stored.size, 3)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
})

describe("A store with an id", () => {
  it.effect("keeps its plans and runs, those by its older name too, and no other store at its address has them", () => {
    const { fake, layer } = withFake()
    const storage = memoryStorage()
    const on = (target: string, id?: string) =>
      Layer.succeed(RunLog, makeRunLog({ target, storeId: Effect.succeed(id) }, storage))
    return Effect.gen(function* () {
      const older = yield* Effect.provide(importContacts(Stream.fromIterable(rowsOf(1))), on("old"))
      const [made, plan] = yield* Effect.gen(function* () {
        const report = yield* importContacts(Stream.fromIterable(rowsOf(2)))
        return [report, yield* planImport(Stream.fromIterable(rowsOf(3)))] as const
      }).pipe(Effect.provide(on("old", "a1")))
      assert.deepInclude(plan.header, { target: "a1", name: "old" })
      const other = yield* Effect.flip(loadPlan(plan.content)).pipe(Effect.provide(on("old", "b2")))
      assert.strictEqual(other.message, "It is for another store or account than that at old now.")
      const refused = yield* Effect.flip(undoRun(made.run ?? "")).pipe(Effect.provide(on("old", "b2")))
      assert.strictEqual(refused._tag, "OtherTarget")
      const moved = yield* Effect.provide(listRuns, on("new", "a1"))
      assert.deepStrictEqual(
        moved.map(({ header, isHere }) => [header.id, isHere]),
        [
          [made.run, true],
          [older.run, false]
        ]
      )
      yield* Effect.provide(undoRun(made.run ?? ""), on("new", "a1"))
      assert.deepStrictEqual([...fake.stored.keys()], ["p0@example.com"])
      assert.strictEqual((yield* Effect.provide(loadPlan(plan.content), on("new", "a1"))).header.id, plan.header.id)
      yield* Effect.provide(undoRun(older.run ?? ""), on("old", "a1"))
      assert.strictEqual(fake.stored.size, 0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("goes on with a run that its older name began", () => {
    const { layer } = withFake()
    const storage = memoryStorage()
    const openOn = (id: string | undefined) =>
      Effect.gen(function* () {
        const run = yield* makeRunLog({ target: "old", storeId: Effect.succeed(id) }, storage).open({
          command: "sync",
          input: "file"
        })
        yield* run.append({ _tag: "Unknown", what: "a step" })
        return [run.header.id, run.isResumed] as const
      }).pipe(Effect.scoped)
    return Effect.gen(function* () {
      const [id] = yield* openOn(undefined)
      assert.deepStrictEqual(yield* openOn("a1"), [id, true])
    }).pipe(Effect.provide(layer))
  })
})

describe("An upload", () => {
  it.effect("without a record writes no log, and does not know what is new", () => {
    const { layer } = withFake()
    return Effect.gen(function* () {
      const report = yield* importContacts(Stream.fromIterable(rowsOf(3)), { record: false })
      assert.deepInclude(report, { run: undefined, done: 3, new: 0, unknownWhetherNew: 3 })
      assert.deepStrictEqual(yield* (yield* RunLog).list, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("tries again where others change a contact at the same time, and records what it made", () => {
    const { fake, layer } = withFake()
    return Effect.gen(function* () {
      fake.before(() => fake.put("p1@example.com", { lastName: "Theirs" }))
      const report = yield* importContacts(Stream.fromIterable(rowsOf(2)))
      assert.deepInclude(report, { done: 2, new: 1, changed: 1 })
      yield* undoRun(report.run ?? "")
      assert.deepStrictEqual(Array.from(fake.stored.values()), [
        { contact: { email: "p1@example.com", status: "Active", lastName: "Theirs" }, lists: [] }
      ])
    }).pipe(Effect.provide(layer))
  })
})

describe("A change of a status", () => {
  it.effect("never adds a contact that others delete meanwhile", () => {
    const { fake, layer } = withFake()
    return Effect.gen(function* () {
      fake.put("bob@example.com")
      fake.before(() => fake.stored.delete("bob@example.com"))
      const gone = yield* Effect.flip(
        changeAsRun({ email: "bob@example.com", write: { status: "Unsubscribed" } }, { command: "status" })
      )
      assert.strictEqual(gone._tag, "ContactNotFound")
      assert.isUndefined(fake.of("bob@example.com"))
    }).pipe(Effect.provide(layer))
  })
})
