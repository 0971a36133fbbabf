import { assert, describe, it } from "@effect/vitest"
import { type Contact, ContactsService, EmailAddress, RuleText } from "@roster/domain"
import { DateTime, Effect, Layer, Stream } from "effect"
import {
  listRuns,
  planDelete,
  previewUndo,
  runChanges,
  RunLog,
  undoRun,
  type UndoneContact,
  importContacts
} from "../../src/index.ts"
import { makeRunLog, type StoredRun } from "../../src/runs/RunLog.ts"
import { makeFake } from "./fakeContacts.ts"

const ada = "ada@example.com" as EmailAddress

const withLog = () => {
  const fake = makeFake()
  return { fake, layer: Layer.merge(fake.layer, RunLog.layerMemory()) }
}

/** Deletes contacts by a plan, and gives the id of its run. */
const deletedBy = Effect.fnUntraced(function* (...emails: ReadonlyArray<string>) {
  const contacts = yield* ContactsService
  const plan = yield* planDelete(Stream.mapEffect(Stream.fromIterable(emails), (email) => contacts.get(email)))
  return (yield* plan.apply).report.run ?? ""
})

describe("An undo", () => {
  it.effect("takes contacts off the lists that the run put them on, and no others", () => {
    const { fake, layer } = withLog()
    fake.put(ada, {}, ["old"])
    return Effect.gen(function* () {
      const { run = "" } = yield* importContacts(Stream.make({ email: ada }), { listNames: ["new"] })
      assert.deepStrictEqual(fake.of(ada)?.lists, ["old", "new"])
      yield* undoRun(run)
      assert.deepStrictEqual(fake.of(ada)?.lists, ["old"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is previewed with the values before, by the run and now, and with what others did since", () => {
    const { fake, layer } = withLog()
    const [bob, cy] = ["bob@example.com", "cy@example.com"] as const
    fake.put(ada, { firstName: "A", lastName: "B" })
    fake.put(bob, { firstName: "Bob" })
    return Effect.gen(function* () {
      const { run = "" } = yield* importContacts(
        Stream.make(
          { email: ada, firstName: "X", lastName: "Y" },
          { email: bob, firstName: "Robert" },
          { email: EmailAddress.make(cy), firstName: "Cy" }
        )
      )
      fake.put(ada, { firstName: "Theirs", lastName: "Y" })
      fake.remove(bob)
      const seen: Array<UndoneContact> = []
      yield* previewUndo(run, { onContacts: (contacts) => Effect.sync(() => void seen.push(...contacts)) })
      assert.deepStrictEqual(
        seen.toSorted((one, other) => one.email.localeCompare(other.email)),
        [
          {
            email: ada,
            step: "ChangeBack",
            since: "Changed",
            fields: [
              { field: "FirstName", before: "A", byRun: "X", now: "Theirs", isKept: true },
              { field: "LastName", before: "B", byRun: "Y", now: "Y", isKept: false }
            ]
          },
          {
            email: bob,
            step: "Keep",
            since: "Deleted",
            fields: [{ field: "FirstName", before: "Bob", byRun: "Robert", now: null, isKept: true }]
          },
          { email: cy, step: "Delete", since: undefined, fields: [] }
        ]
      )
      const { changes, total } = yield* runChanges(yield* (yield* RunLog).read(run))
      assert.strictEqual(total, 3)
      const looked = yield* Stream.runCollect(changes())
      assert.deepInclude(
        looked.find(({ email }) => email === bob),
        {
          effect: "Changed",
          fields: [{ field: "FirstName", before: "Bob", byRun: "Robert" }],
          isMade: true
        }
      )
      assert.deepInclude(
        looked.find(({ email }) => email === cy),
        { effect: "Created", fields: [] }
      )
      assert.deepStrictEqual(yield* Stream.runCollect(changes(2)), looked.slice(2))
    }).pipe(Effect.provide(layer))
  })

  it.effect("tells values that may not be written back from what others changed", () => {
    const { fake, layer } = withLog()
    // As another service may answer.
    fake.put(ada, { status: "Parked" as NonNullable<Contact["status"]> })
    return Effect.gen(function* () {
      const { run = "" } = yield* importContacts(Stream.make({ email: ada, status: "Inactive" }))
      const preview = yield* previewUndo(run)
      const report = yield* undoRun(run)
      for (const { outdatedContacts, unwritableContacts, ...counts } of [preview, report]) {
        assert.deepInclude(counts, { read: 1, done: 0, rejected: 1, outdated: 0, partlyDone: 0 })
        assert.deepStrictEqual(outdatedContacts, [])
        const fields = [{ field: "Status", before: "Parked", byRun: "Inactive", now: "Inactive", isKept: true }]
        assert.deepStrictEqual(unwritableContacts, [{ email: ada, step: "Unwritable", since: undefined, fields }])
      }
      assert.strictEqual(fake.of(ada)?.contact.status, "Inactive")
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps the fields that others changed since, and names them", () => {
    const { fake, layer } = withLog()
    fake.put(ada, { firstName: "A", lastName: "B", customFields: { city: "Rome" } })
    return Effect.gen(function* () {
      const { run = "" } = yield* importContacts(
        Stream.make({ email: ada, firstName: "X", lastName: "Y", customFields: { city: "Oslo", age: "1" } })
      )
      fake.put(ada, { firstName: "Theirs", lastName: "Y", customFields: { city: "Oslo", age: "1" } })
      const report = yield* undoRun(run)
      assert.deepInclude(report, { done: 1, changed: 1, partlyDone: 1, outdated: 0 })
      assert.deepStrictEqual(
        report.outdatedContacts.map(({ email, fields, since }) => [
          email,
          since,
          fields.filter(({ isKept }) => isKept)
        ]),
        [[ada, "Changed", [{ field: "FirstName", before: "A", byRun: "X", now: "Theirs", isKept: true }]]]
      )
      assert.deepStrictEqual(fake.of(ada)?.contact, {
        email: ada,
        status: "Active",
        firstName: "Theirs",
        lastName: "B",
        customFields: { city: "Rome" }
      })
      assert.deepInclude(yield* undoRun(run), { done: 0, outdated: 1, changed: 0 })
    }).pipe(Effect.provide(layer))
  })

  it.effect("is of those contacts alone that a rule selects, as they are now or were before they were deleted", () => {
    const { fake, layer } = withLog()
    const [bob, cy] = [EmailAddress.make("bob@example.com"), EmailAddress.make("cy@example.com")]
    fake.put(ada, { firstName: "A", customFields: { city: "Rome" } })
    fake.put(bob, { firstName: "B", customFields: { city: "Oslo" } })
    fake.put(cy, { firstName: "C", customFields: { city: "Rome" } })
    return Effect.gen(function* () {
      const only = RuleText.make("city = 'Rome'")
      const { run = "" } = yield* importContacts(
        Stream.make({ email: ada, firstName: "X" }, { email: bob, firstName: "X" })
      )
      const steps: Array<string> = []
      const onContacts = (contacts: ReadonlyArray<UndoneContact>) =>
        Effect.sync(() => void steps.push(...contacts.map(({ email, step }) => `${email} ${step}`)))
      assert.deepInclude(yield* previewUndo(run, { only, onContacts }), { read: 2, changed: 1, leftOut: 1, done: 1 })
      assert.sameMembers(steps, [`${ada} ChangeBack`, `${bob} LeftOut`])
      assert.deepInclude(yield* undoRun(run, { only }), { changed: 1, leftOut: 1, outdated: 0 })
      assert.deepStrictEqual(
        [ada, bob].map((email) => fake.of(email)?.contact.firstName),
        ["A", "X"]
      )

      const deleted = yield* deletedBy(bob, cy)
      assert.deepInclude(yield* undoRun(deleted, { only }), { new: 1, leftOut: 1 })
      assert.deepStrictEqual([...fake.stored.keys()].sort(), [ada, cy])
      const undoneBy = Effect.map(listRuns, (runs) => runs.find(({ header }) => header.id === deleted)?.undoneBy)
      assert.isUndefined(yield* undoneBy)
      // The rest of the run is there to undo.
      const rest = yield* undoRun(deleted)
      assert.deepInclude(rest, { new: 1, alreadySo: 1 })
      assert.strictEqual((yield* undoneBy)?.header.id, rest.run)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is of the named fields alone", () => {
    const { fake, layer } = withLog()
    fake.put(ada, { firstName: "A", lastName: "B", customFields: { city: "Rome" } })
    return Effect.gen(function* () {
      const { run = "" } = yield* importContacts(
        Stream.make(
          { email: ada, firstName: "X", lastName: "Y", customFields: { city: "Oslo" } },
          { email: EmailAddress.make("new@example.com") }
        ),
        { listNames: ["news"] }
      )
      const report = yield* undoRun(run, { fields: ["City", "lastname", "lists.News"] })
      assert.deepInclude(report, { changed: 1, leftOut: 1, outdated: 0 })
      assert.deepInclude(fake.of(ada)?.contact, { firstName: "X", lastName: "B", customFields: { city: "Rome" } })
      assert.deepStrictEqual(fake.of(ada)?.lists, [])
      assert.isDefined(fake.of("new@example.com"))
      assert.deepInclude(yield* previewUndo(run, { fields: ["country"] }), { changed: 0, leftOut: 2 })
    }).pipe(Effect.provide(layer))
  })

  it.effect("changes back what others changed since if it is forced, and leaves those who are deleted", () => {
    const { fake, layer } = withLog()
    const [bob, cy, dan] = ["bob@example.com", "cy@example.com", "dan@example.com"] as const
    fake.put(ada, { firstName: "A" })
    fake.put(bob, { firstName: "B" })
    fake.put(dan, { firstName: "D" }, ["old"])
    return Effect.gen(function* () {
      const { run = "" } = yield* importContacts(
        Stream.make(
          { email: ada, firstName: "X" },
          { email: EmailAddress.make(bob), firstName: "X" },
          { email: EmailAddress.make(cy), firstName: "C" }
        )
      )
      fake.put(ada, { firstName: "Theirs" })
      fake.remove(bob)
      fake.put(cy, { firstName: "Theirs" })
      assert.deepInclude(yield* previewUndo(run), { outdated: 2, changed: 1, stripped: 1, deleted: 0 })
      const report = yield* undoRun(run, { force: true })
      assert.deepInclude(report, { outdated: 1, changed: 1, deleted: 1 })
      assert.deepStrictEqual(
        report.outdatedContacts.map(({ email, since }) => [email, since]),
        [[bob, "Deleted"]]
      )
      assert.strictEqual(fake.of(ada)?.contact.firstName, "A")

      const deleted = yield* deletedBy(dan)
      fake.put(dan, { lastName: "Theirs" }, ["theirs"])
      assert.deepInclude(yield* previewUndo(deleted), { outdated: 1 })
      assert.deepInclude(yield* undoRun(deleted, { force: true }), { changed: 1, outdated: 0 })
      assert.deepStrictEqual(fake.of(dan), {
        contact: { email: dan, status: "Active", firstName: "D" },
        lists: ["old"]
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect("looks again where others write in between", () => {
    const { fake, layer } = withLog()
    fake.put(ada, { firstName: "A" })
    return Effect.gen(function* () {
      const { run = "" } = yield* importContacts(Stream.make({ email: ada, firstName: "X" }))
      fake.before(() => fake.put(ada, { firstName: "X", lastName: "Theirs" }))
      assert.deepInclude(yield* undoRun(run), { done: 1, changed: 1, outdated: 0 })
      assert.deepInclude(fake.of(ada)?.contact, { firstName: "A", lastName: "Theirs" })
    }).pipe(Effect.provide(layer))
  })

  it.effect("brings back what was deleted, and can be undone itself", () => {
    const { fake, layer } = withLog()
    fake.put(ada, { firstName: "A", status: "Unsubscribed" }, ["old"])
    return Effect.gen(function* () {
      const id = yield* deletedBy(ada)
      assert.strictEqual(fake.stored.size, 0)
      const undone = yield* undoRun(id)
      assert.deepInclude(undone, { done: 1, new: 1 })
      assert.deepStrictEqual(fake.of(ada), {
        contact: { email: ada, firstName: "A", status: "Unsubscribed" },
        lists: ["old"]
      })
      yield* undoRun(undone.run ?? "")
      assert.strictEqual(fake.stored.size, 0)
    }).pipe(Effect.provide(layer))
  })

  it.live("refuses a run that is going on", () => {
    const { layer } = withLog()
    return Effect.gen(function* () {
      const run = yield* (yield* RunLog).open({ command: "sync" })
      yield* run.append({ _tag: "Changes", created: [[ada, "digest"]] })
      const error = yield* Effect.flip(undoRun(run.header.id))
      assert.strictEqual(error._tag, "RunTaken")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  for (const [what, dates, isRemoved] of [
    ["was added since and never updated", { dateAdded: "2026-01-02T00:00:00" }, true],
    ["was updated", { dateAdded: "2026-01-02T00:00:00", dateUpdated: "2026-01-03T00:00:00" }, false],
    ["was there before", { dateAdded: "2026-01-01T00:00:00" }, false]
  ] as const) {
    it.effect(`of a record of version 1 ${isRemoved ? "deletes" : "keeps"} a contact that ${what}`, () => {
      const fake = makeFake()
      const date = (text: string) => DateTime.makeUnsafe(`${text}Z`)
      const fields: Omit<Contact, "email"> = {
        dateAdded: date(dates.dateAdded),
        ...("dateUpdated" in dates ? { dateUpdated: date(dates.dateUpdated) } : {})
      }
      fake.put(ada, fields)
      const entries = Stream.make({ _tag: "Changes" as const, created: [[ada, "with its dates"] as const] })
      const stored: StoredRun = {
        header: { id: "old", command: "import", target: "memory", began: "2026-01-01T12:00:00.000Z" },
        canResume: false,
        end: { created: 1, changed: 0, deleted: 0 },
        size: 1,
        entries,
        backwards: entries
      }
      const log = Layer.succeed(
        RunLog,
        makeRunLog(
          { target: "memory" },
          {
            take: () => Effect.succeed(true),
            all: Effect.succeed([]),
            find: () => Effect.succeed(stored),
            write: () => Effect.succeed({ write: () => Effect.void })
          }
        )
      )
      return Effect.gen(function* () {
        yield* undoRun("old")
        assert.strictEqual(fake.stored.size, isRemoved ? 0 : 1)
      }).pipe(Effect.provide(Layer.merge(fake.layer, log)))
    })
  }
})
