/** Plans, uploads and undo on real services: on SQL, and over HTTP at another service, which compares nothing by itself. */
import { assert, describe, it } from "@effect/vitest"
import { AccessDenied, ContactFilter, type ContactPayload, ContactsService, ServiceError } from "@roster/domain"
import {
  changeStatus,
  planImport,
  planUpdate,
  previewUndo,
  recordedContacts,
  RunLog,
  undoRun,
  uploadContacts
} from "@roster/workflows"
import { Array as Arrays, Effect, Layer, Stream } from "effect"
import { foreign, noSuchPath } from "../../src/layers/ForeignService.ts"
import { layerMemory } from "../../src/layers/ServiceLayers.ts"

const services = [
  { name: "on SQL", isExact: true, contacts: layerMemory },
  { name: "at another service", isExact: false, contacts: foreign(noSuchPath) }
] as const

/** Such a service with a log of runs. */
const layerOf = (contacts: (typeof services)[number]["contacts"]) =>
  Layer.merge(Layer.fresh(contacts), RunLog.layerMemory())

const rowsOf = (count: number): ReadonlyArray<ContactPayload> =>
  Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com`, firstName: `N${index}` }))

/** What others add or change. */
const others = (given: ReadonlyArray<ContactPayload>) => ContactsService.use((contacts) => contacts.add(given))

/** The address, first name and status of all contacts. */
const stored = Effect.map(
  ContactsService.use((contacts) => contacts.list({ limit: 1000 })),
  (found) => found.map(({ email, firstName = "", status }) => `${email} ${firstName} ${status}`)
)

describe.each(services)("programs $name", ({ contacts, isExact }) => {
  const layer = () => layerOf(contacts)

  it.effect("plan an import as a value, apply it once, and undo it", () =>
    Effect.gen(function* () {
      yield* others([
        { email: "p0@example.com", firstName: "Old" },
        { email: "p1@example.com", firstName: "N1" }
      ])
      const before = yield* stored
      const plan = yield* planImport(Stream.fromIterable(rowsOf(5)))
      assert.deepInclude(plan.summary, { read: 5, new: 3, changed: 1, unchanged: 1, rejected: 0, duplicates: 0 })
      assert.deepStrictEqual(yield* stored, before)
      const run = yield* plan.apply
      assert.deepInclude(run.report, { read: 4, done: 4, new: 3, changed: 1, alreadySo: 0, outdated: 0 })
      assert.deepStrictEqual(
        yield* stored,
        rowsOf(5).map(({ email, firstName }) => `${email} ${firstName} Active`)
      )
      const again = yield* plan.apply
      assert.deepInclude(again.report, { read: 4, done: 4, new: 0, changed: 0, alreadySo: 4, run: undefined })
      const undone = yield* run.undo
      assert.deepInclude(undone, { read: 4, done: 4, deleted: 3, changed: 1, outdated: 0 })
      assert.deepStrictEqual(yield* stored, before)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  // More than 50 are read at once, where no change says what is stored.
  it.effect.each([10, isExact ? 300 : 60])("overwrite nobody's change among %i rows", (count) =>
    Effect.gen(function* () {
      yield* others(rowsOf(count).map(({ email }) => ({ email, firstName: "Old" })))
      const plan = yield* planImport(Stream.fromIterable(rowsOf(count)))
      yield* plan.verify
      yield* others([{ email: "p7@example.com", firstName: "Theirs" }])
      assert.deepInclude(yield* Effect.flip(plan.verify), { _tag: "PlanOutdated", count: 1 })
      const { report } = yield* plan.apply
      assert.deepInclude(report, { done: count - 1, changed: count - 1, outdated: 1 })
      assert.deepStrictEqual(report.outdatedContacts, [{ line: 8, email: "p7@example.com" }])
      assert.deepStrictEqual(
        yield* stored,
        rowsOf(count).map(({ email, firstName }, index) => `${email} ${index === 7 ? "Theirs" : firstName} Active`)
      )
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("record an add, a change and a deletion that are more than one call takes, and undo them", () =>
    Effect.gen(function* () {
      // With what is stored, an add of 150 such contacts is more than 8 MiB.
      const large = (index: number, by: string) => ({
        email: `p${index}@example.com`,
        customFields: { note: `${by}${"x".repeat(isExact ? 30_000 : 20)}` }
      })
      const some = (by: string) => Array.from({ length: isExact ? 150 : 60 }, (_, index) => large(index, by))
      yield* others(some("before"))
      const all: Arrays.NonEmptyReadonlyArray<ContactPayload> = [
        { email: "first@example.com" },
        ...some("before"),
        ...Array.from({ length: 950 }, (_, index) => ({ email: `q${index}@example.com` }))
      ]
      yield* others(all.filter(({ customFields }) => customFields === undefined))
      const log = yield* RunLog
      const run = yield* log.open({ command: "cleanup" })
      const recording = yield* recordedContacts({ run, expected: all.length })
      yield* recording.add(some("after"))
      yield* recording.deleteMany(ContactFilter.ByEmails({ emails: Arrays.map(all, ({ email }) => email) }))
      yield* run.end
      assert.deepStrictEqual(yield* stored, [])
      // Another service is read once, before all of this.
      const changed = isExact ? some("").length : 0
      assert.deepInclude(yield* previewUndo(run.header.id), { new: all.length, changed, outdated: 0 })
      yield* undoRun(run.header.id)
      const contacts = yield* ContactsService
      const found = yield* Stream.runCollect(contacts.stream())
      assert.strictEqual(found.length, all.length)
      const notes = found.flatMap(({ customFields }) => customFields?.["note"]?.slice(0, 6) ?? [])
      assert.deepStrictEqual(
        notes,
        some("").map(() => "before")
      )
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("preview an undo of several writes to one contact, by whatever spelling", () =>
    Effect.gen(function* () {
      const log = yield* RunLog
      const run = yield* log.open({ command: "cleanup" })
      const recording = yield* recordedContacts({ run })
      yield* recording.add([{ email: "ada@example.com", firstName: "Ada" }])
      yield* recording.delete("ada@example.com")
      yield* recording.add([{ email: "Ada@Example.com", firstName: "Grace" }])
      yield* run.end
      const preview = yield* previewUndo(run.header.id)
      const undone = yield* undoRun(run.header.id)
      assert.deepStrictEqual({ ...preview, run: undone.run }, undone)
      assert.deepInclude(undone, { new: 1, deleted: 2, outdated: 0 })
      assert.deepStrictEqual(yield* stored, [])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("write through the service that the caller provides", () => {
    const written: Array<string> = []
    const audited = Layer.effect(
      ContactsService,
      Effect.map(ContactsService, (service) => {
        const refused = () => Effect.die("it writes by changes alone")
        return ContactsService.of({
          ...service,
          add: refused,
          addWithoutAnswer: refused,
          update: refused,
          delete: refused,
          deleteMany: refused,
          change: (changes, options) => {
            if (options?.dryRun !== true) written.push(...changes.map(({ email }) => email))
            return service.change(changes, options)
          }
        })
      })
    )
    return Effect.gen(function* () {
      const run = yield* (yield* planImport(Stream.fromIterable(rowsOf(2)))).apply
      assert.deepStrictEqual(written, ["p0@example.com", "p1@example.com"])
      assert.strictEqual((yield* stored).length, 2)
      yield* run.undo
      assert.strictEqual(written.length, 4)
      assert.deepStrictEqual(yield* stored, [])
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(audited, layer())))
  })

  it.effect("plan one change to many contacts, apply it where nobody else changed them, and undo it", () =>
    Effect.gen(function* () {
      yield* others(rowsOf(60).map(({ email }, index) => ({ email, firstName: index < 20 ? "New" : "Old" })))
      const before = yield* stored
      const service = yield* ContactsService
      const plan = yield* planUpdate(service.stream(), { firstName: "New", customFields: { seen: "yes", gone: "" } })
      assert.deepInclude(plan.summary, { read: 60, new: 0, changed: 60, unchanged: 0 })
      assert.deepStrictEqual(plan.summary.fields, { "CustomFields.seen": 60, FirstName: 40 })
      yield* others([{ email: "p7@example.com", firstName: "Theirs" }])
      const { report, undo } = yield* plan.apply
      assert.deepInclude(report, { read: 60, changed: 59, outdated: 1 })
      const again = yield* planUpdate(service.stream(), { firstName: "New" })
      assert.deepInclude(again.summary, { read: 60, changed: 1, unchanged: 59 })
      assert.deepInclude(yield* undo, { changed: 59, outdated: 0 })
      assert.deepStrictEqual(
        yield* stored,
        before.map((line) => (line.startsWith("p7@") ? "p7@example.com Theirs Active" : line))
      )
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("record an upload, and undo it", () =>
    Effect.gen(function* () {
      yield* others([{ email: "p0@example.com", firstName: "Old" }])
      const before = yield* stored
      const report = yield* uploadContacts(Stream.fromIterable(rowsOf(3)))
      assert.deepInclude(report, { read: 3, done: 3, new: 2, changed: 1, alreadySo: 0, unknownWhetherNew: 0 })
      const preview = yield* previewUndo(report.run ?? "")
      const undone = yield* undoRun(report.run ?? "")
      for (const one of [preview, undone]) assert.deepInclude(one, { done: 3, deleted: 2, changed: 1, outdated: 0 })
      assert.deepStrictEqual(yield* stored, before)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("delete a contact that the undone run created and then changed", () =>
    Effect.gen(function* () {
      const id = yield* Effect.scoped(
        Effect.gen(function* () {
          const run = yield* (yield* RunLog).open({ command: "sync" })
          const recorded = yield* recordedContacts({ run })
          yield* recorded.addWithoutAnswer([{ email: "ada@example.com", firstName: "Ada" }])
          yield* recorded.update("ada@example.com", { firstName: "Ada L." })
          yield* run.end
          return run.header.id
        })
      )
      assert.deepStrictEqual(yield* stored, ["ada@example.com Ada L. Active"])
      const preview = yield* previewUndo(id)
      const report = yield* undoRun(id)
      for (const one of [preview, report]) assert.deepInclude(one, { outdated: 0, deleted: 1 })
      assert.deepStrictEqual(yield* stored, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("change, and delete, no contact that was not there when they looked", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const run = yield* (yield* RunLog).open({ command: "sync" })
      /** Others act between what a program reads and what it then does. */
      const meanwhile = (act: Effect.Effect<unknown>) => {
        let isDone = false
        const racing = ContactsService.of({
          ...contacts,
          change: (changes, options) =>
            Effect.tap(contacts.change(changes, options), () => {
              if (isDone || options?.dryRun !== true) return Effect.void
              isDone = true
              return act
            })
        })
        return Effect.provideService(recordedContacts({ run }), ContactsService, racing)
      }
      const adding = Effect.orDie(contacts.addWithoutAnswer([{ email: "ada@example.com", firstName: "Ada" }]))
      const deleting = Effect.orDie(contacts.delete("ada@example.com"))
      const update = ({ update }: ContactsService["Service"]) => update("ada@example.com", { lastName: "L." })
      const erase = (service: ContactsService["Service"]) =>
        Effect.flatMap(service.delete("ada@example.com"), () => service.get("ada@example.com"))
      for (const write of [update, erase]) {
        assert.strictEqual((yield* Effect.flip(write(yield* meanwhile(adding))))._tag, "ContactNotFound")
        assert.deepStrictEqual(yield* stored, ["ada@example.com Ada Active"])
        yield* deleting
      }
      yield* adding
      assert.strictEqual((yield* Effect.flip(update(yield* meanwhile(deleting))))._tag, "ContactNotFound")
      assert.deepStrictEqual(yield* stored, [])
      yield* run.end
      assert.deepInclude(yield* previewUndo(run.header.id), { new: 0, deleted: 0 })
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("change the status of somebody who is there where the service compares, and of nobody else", () =>
    Effect.gen(function* () {
      yield* others([{ email: "ada@example.com" }])
      const change = changeStatus("ada@example.com", "Unsubscribed")
      if (isExact) {
        yield* change
        const refused = yield* Effect.flip(changeStatus("ada@example.com", "Active"))
        assert.strictEqual(refused._tag, "WouldResubscribe")
      } else assert.strictEqual((yield* Effect.flip(change))._tag, "StatusNotChangeable")
      const gone = yield* Effect.flip(changeStatus("bob@example.com", "Unsubscribed"))
      assert.strictEqual(gone._tag, "ContactNotFound")
      assert.deepStrictEqual(yield* stored, [`ada@example.com  ${isExact ? "Unsubscribed" : "Active"}`])
    }).pipe(Effect.provide(layer()))
  )
})

describe("programs on SQL alone", () => {
  it.effect("plan by look-ups of many for a key that may not change contacts", () => {
    const asked: Array<number> = []
    const viewOnly = Layer.effect(
      ContactsService,
      Effect.map(ContactsService, (service) => {
        const notThis = () => Effect.die("it looks up what it plans")
        const denied = new ServiceError({
          operation: "contactsChangesPost",
          reason: new AccessDenied({ required: "ModifyContacts" })
        })
        return ContactsService.of({
          ...service,
          get: notThis,
          list: notThis,
          stream: () => Stream.die("it looks up what it plans"),
          change: () => Effect.fail(denied),
          getMany: (emails) => {
            asked.push(emails.length)
            return service.getMany(emails)
          }
        })
      })
    )
    return Effect.gen(function* () {
      const layers = yield* Layer.build(layerOf(layerMemory))
      yield* Effect.provideContext(others(rowsOf(100).map(({ email }) => ({ email, firstName: "Old" }))), layers)
      const plan = yield* planImport(Stream.fromIterable(rowsOf(1200))).pipe(
        Effect.provide(viewOnly),
        Effect.provideContext(layers)
      )
      assert.deepInclude(plan.summary, { read: 1200, new: 1100, changed: 100, unchanged: 0 })
      assert.isAtMost(asked.length, 20)
    }).pipe(Effect.scoped)
  })
})
