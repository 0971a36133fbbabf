import { assert, describe, it } from "@effect/vitest"
import { type ContactPayload, ContactsService } from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import { loadPlan, planImport, previewUndo, RunLog, undoRun, uploadContacts, changeStatus } from "../../src/index.ts"
import { recordedContacts } from "../../src/runs/RecordedContacts.ts"
import { makeFake } from "./fakeContacts.ts"

const rowsOf = (count: number, fields: Partial<ContactPayload> = {}): ReadonlyArray<ContactPayload> =>
  Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com`, firstName: `N${index}`, ...fields }))

const withFake = (options?: Parameters<typeof makeFake>[0]) => {
  const fake = makeFake(options)
  return { fake, layer: Layer.merge(fake.layer, RunLog.layerMemory()) }
}

describe("A plan", () => {
  it.effect("is a value, applies once, and is undone", () => {
    const { fake, layer } = withFake()
    fake.put("p0@example.com", { firstName: "Old" })
    fake.put("p1@example.com", { firstName: "N1" }, ["newsletter"])
    return Effect.gen(function* () {
      const plan = yield* planImport(Stream.fromIterable(rowsOf(5)), { listNames: ["newsletter"] })
      assert.deepInclude(plan.summary, { read: 5, new: 3, changed: 1, unchanged: 1 })
      const run = yield* plan.apply
      assert.deepInclude(run.report, { read: 4, done: 4, new: 3, changed: 1, alreadySo: 0, outdated: 0 })
      const again = yield* plan.apply
      assert.deepInclude(again.report, { read: 4, done: 4, new: 0, changed: 0, alreadySo: 4, run: undefined })
      const undone = yield* run.undo
      assert.deepInclude(undone, { read: 4, done: 4, deleted: 3, changed: 1, outdated: 0 })
      assert.strictEqual(fake.stored.size, 2)
      assert.deepStrictEqual(fake.of("p0@example.com"), {
        contact: { email: "p0@example.com", status: "Active", firstName: "Old" },
        lists: []
      })
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  for (const isExact of [true, false]) {
    for (const count of [10, 300]) {
      it.effect(
        `overwrites nobody's change among ${count} rows of a service that is ${isExact ? "" : "not "}exact`,
        () => {
          const { fake, layer } = withFake({ isExact })
          for (const { email } of rowsOf(count)) fake.put(email, { firstName: "Old" })
          return Effect.gen(function* () {
            const plan = yield* planImport(Stream.fromIterable(rowsOf(count)))
            fake.put("p7@example.com", { firstName: "Theirs" })
            const error = yield* Effect.flip(plan.verify)
            assert.deepInclude(error, { _tag: "PlanOutdated", count: 1 })
            const { report } = yield* plan.apply
            assert.deepInclude(report, { done: count - 1, changed: count - 1, outdated: 1 })
            assert.deepStrictEqual(report.outdatedContacts, [{ line: 8, email: "p7@example.com" }])
            assert.strictEqual(fake.of("p7@example.com")?.contact.firstName, "Theirs")
          }).pipe(Effect.scoped, Effect.provide(layer))
        }
      )
    }
  }

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
      assert.deepInclude((yield* loaded.apply).report, { done: 3, new: 3 })
      assert.strictEqual(fake.stored.size, 3)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("and its undo write through the service that the caller provides", () => {
    const { fake } = withFake()
    const audited: Array<string> = []
    const audit = Layer.effect(
      ContactsService,
      Effect.map(ContactsService, (service) =>
        ContactsService.of({
          ...service,
          change: (changes, options) => {
            if (options?.dryRun !== true) audited.push(...changes.map(({ email }) => email))
            return service.change(changes, options)
          }
        })
      )
    ).pipe(Layer.provide(fake.layer))
    return Effect.gen(function* () {
      const run = yield* (yield* planImport(Stream.fromIterable(rowsOf(2)))).apply
      assert.deepStrictEqual(audited, ["p0@example.com", "p1@example.com"])
      yield* run.undo
      assert.strictEqual(audited.length, 4)
      assert.deepStrictEqual(audited, fake.writes)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(audit, RunLog.layerMemory())))
  })
})

describe("An upload", () => {
  for (const isExact of [true, false]) {
    it.effect(`is recorded and undone on a service that is ${isExact ? "" : "not "}exact`, () => {
      const { fake, layer } = withFake({ isExact })
      fake.put("p0@example.com", { firstName: "Old" })
      return Effect.gen(function* () {
        const report = yield* uploadContacts(Stream.fromIterable(rowsOf(3)), isExact ? { listNames: ["a"] } : {})
        assert.deepInclude(report, { read: 3, done: 3, new: 2, changed: 1, alreadySo: 0, unknownWhetherNew: 0 })
        const preview = yield* previewUndo(report.run ?? "")
        const undone = yield* undoRun(report.run ?? "")
        for (const one of [preview, undone]) assert.deepInclude(one, { done: 3, deleted: 2, changed: 1, outdated: 0 })
        assert.deepStrictEqual(Array.from(fake.stored.values()), [
          { contact: { email: "p0@example.com", status: "Active", firstName: "Old" }, lists: [] }
        ])
      }).pipe(Effect.provide(layer))
    })
  }

  it.effect("without a record writes no log, and does not know what is new", () => {
    const { layer } = withFake()
    return Effect.gen(function* () {
      const report = yield* uploadContacts(Stream.fromIterable(rowsOf(3)), { record: false })
      assert.deepInclude(report, { run: undefined, done: 3, new: 0, unknownWhetherNew: 3 })
      assert.deepStrictEqual(yield* (yield* RunLog).list, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("tries again where others change a contact at the same time, and records what it made", () => {
    const { fake, layer } = withFake()
    return Effect.gen(function* () {
      fake.before(() => fake.put("p1@example.com", { lastName: "Theirs" }))
      const report = yield* uploadContacts(Stream.fromIterable(rowsOf(2)))
      assert.deepInclude(report, { done: 2, new: 1, changed: 1 })
      yield* undoRun(report.run ?? "")
      assert.deepStrictEqual(Array.from(fake.stored.values()), [
        { contact: { email: "p1@example.com", status: "Active", lastName: "Theirs" }, lists: [] }
      ])
    }).pipe(Effect.provide(layer))
  })
})

describe("An undo", () => {
  it.effect("deletes a contact that the run created and then changed", () => {
    const { fake, layer } = withFake()
    return Effect.gen(function* () {
      const log = yield* RunLog
      const id = yield* Effect.scoped(
        Effect.gen(function* () {
          const run = yield* log.open({ command: "sync" })
          const contacts = yield* recordedContacts({ run })
          yield* contacts.addWithoutAnswer([{ email: "ada@example.com", firstName: "Ada" }])
          yield* contacts.update("ada@example.com", { firstName: "Ada L." })
          yield* run.end
          return run.header.id
        })
      )
      const preview = yield* previewUndo(id)
      const report = yield* undoRun(id)
      assert.strictEqual(fake.stored.size, 0)
      for (const one of [preview, report]) assert.deepInclude(one, { outdated: 0, deleted: 1 })
    }).pipe(Effect.provide(layer))
  })
})

describe("A change of a status", () => {
  it.effect("changes what is there, and never adds a contact", () => {
    const { fake, layer } = withFake()
    fake.put("ada@example.com")
    return Effect.gen(function* () {
      yield* changeStatus("ada@example.com", "Unsubscribed")
      assert.strictEqual(fake.of("ada@example.com")?.contact.status, "Unsubscribed")
      const refused = yield* Effect.flip(changeStatus("ada@example.com", "Active"))
      assert.strictEqual(refused._tag, "WouldResubscribe")
      fake.put("bob@example.com")
      fake.before(() => fake.stored.delete("bob@example.com"))
      const gone = yield* Effect.flip(changeStatus("bob@example.com", "Unsubscribed"))
      assert.strictEqual(gone._tag, "ContactNotFound")
      assert.isUndefined(fake.of("bob@example.com"))
    }).pipe(Effect.provide(layer))
  })

  it.effect("says no where the service compares nothing", () => {
    const { fake, layer } = withFake({ isExact: false })
    fake.put("ada@example.com")
    return Effect.gen(function* () {
      const error = yield* Effect.flip(changeStatus("ada@example.com", "Unsubscribed"))
      assert.strictEqual(error._tag, "StatusNotChangeable")
      assert.deepStrictEqual(fake.writes, [])
    }).pipe(Effect.provide(layer))
  })
})
