import { assert, describe, it } from "@effect/vitest"
import {
  type ContactPayload,
  layerTestContacts,
  InvalidInput,
  OutcomeUnknown,
  ServiceError,
  AccessDenied,
  readContacts
} from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import {
  importContacts,
  isWithinLimit,
  parseRejectionLimit,
  planImport,
  type PlanStorage,
  previewUndo,
  RunLog,
  undoRun
} from "../../src/index.ts"
import { makeFake, reportOf } from "../changes/fakeContacts.ts"

const rowsOf = (count: number): ReadonlyArray<ContactPayload> =>
  Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com`, firstName: `N${index}` }))

const lost = new ServiceError({
  operation: "contactsChangesPost",
  reason: new OutcomeUnknown({ recovery: "Look.", detail: "the connection closed" })
})

/** A service whose Nth change is carried out and loses its answer. */
const losing = (fake: ReturnType<typeof makeFake>, isLost: (call: number) => boolean, isDone = true) => {
  let calls = 0
  return layerTestContacts({
    ...fake.service,
    change: (changes, options) => {
      if (options?.dryRun === true || !isLost(++calls)) return fake.service.change(changes, options)
      return isDone ? Effect.andThen(fake.service.change(changes, options), lost) : lost
    }
  })
}

describe("An import that lost an answer", () => {
  for (const isDone of [true, false]) {
    it.effect(`goes on as the same run, whether it was carried out (${isDone}), and its counts add up`, () => {
      const fake = makeFake()
      return Effect.gen(function* () {
        const rows = rowsOf(2500)
        const first = yield* reportOf(importContacts(Stream.fromIterable(rows), { concurrency: 1 }))
        assert.deepInclude(first, { read: 2500, done: 1000, unknown: 1000, notSent: 500 })
        assert.strictEqual(first.new + first.changed + first.alreadySo + first.unknownWhetherNew, first.done)
        const second = yield* importContacts(Stream.fromIterable(rows), { concurrency: 1 })
        assert.deepInclude(second, { run: first.run, read: 2500, done: 2500, unknown: 0, notSent: 0 })
        const alreadySo = isDone ? 2000 : 1000
        assert.deepInclude(second, { new: 2500 - alreadySo, changed: 0, alreadySo })
        const [logged] = yield* (yield* RunLog).list
        assert.deepStrictEqual(logged?.counts, { created: 2500, changed: 0, deleted: 0 })
        const third = yield* importContacts(Stream.fromIterable(rows), { concurrency: 1 })
        assert.deepInclude(third, { run: undefined, done: 2500, new: 0, alreadySo: 2500 })
        yield* undoRun(first.run ?? "")
        assert.strictEqual(fake.stored.size, 0)
      }).pipe(
        Effect.provide(
          Layer.merge(
            losing(fake, (call) => call === 2, isDone),
            RunLog.layerMemory()
          )
        )
      )
    })
  }

  it.effect("does not go on after it was undone", () => {
    const fake = makeFake()
    return Effect.gen(function* () {
      const rows = rowsOf(1500)
      const first = yield* reportOf(importContacts(Stream.fromIterable(rows), { concurrency: 1 }))
      assert.strictEqual(first.done, 1000)
      yield* undoRun(first.run ?? "")
      assert.strictEqual(fake.stored.size, 0)
      const second = yield* importContacts(Stream.fromIterable(rows), { concurrency: 1 })
      assert.deepInclude(second, { done: 1500, new: 1500 })
      assert.strictEqual(fake.stored.size, 1500)
    }).pipe(
      Effect.provide(
        Layer.merge(
          losing(fake, (call) => call === 2, false),
          RunLog.layerMemory()
        )
      )
    )
  })
})

describe("An import by a key that may not view contacts", () => {
  it.effect("says unknown whether new, and resumes and adds up", () => {
    const fake = makeFake()
    const denied = new ServiceError({
      operation: "contactsGet",
      reason: new AccessDenied({ required: "ViewContacts" })
    })
    const blind = layerTestContacts({
      ...fake.service,
      get: () => denied,
      list: () => denied,
      stream: () => Stream.fail(denied),
      change: (changes, options) =>
        Effect.map(fake.service.change(changes, options), (answers) =>
          answers.map((answer) => (answer._tag === "Outdated" ? { _tag: answer._tag, exact: answer.exact } : answer))
        )
    })
    fake.put("p1@example.com")
    return Effect.gen(function* () {
      let told = 0
      const report = yield* importContacts(Stream.fromIterable(rowsOf(3)), {
        onUnread: Effect.sync(() => void told++)
      })
      assert.deepInclude(report, { read: 3, done: 3, new: 0, changed: 0, alreadySo: 0, unknownWhetherNew: 3 })
      assert.strictEqual(told, 1)
      const preview = yield* previewUndo(report.run ?? "")
      assert.strictEqual(preview.unknownChanges.length, 1)
    }).pipe(Effect.provide(Layer.merge(blind, RunLog.layerMemory())))
  })
})

describe("A row that the service refuses", () => {
  it.effect("is rejected alone, and is not in the record", () => {
    const fake = makeFake()
    const picky = layerTestContacts({
      ...fake.service,
      change: (changes, options) => {
        const bad = changes.findIndex(({ email }) => email === "p3@example.com")
        return options?.dryRun === true || bad < 0
          ? fake.service.change(changes, options)
          : new InvalidInput({ field: `[${bad}].Write.FirstName`, issue: "it is too long" })
      }
    })
    return Effect.gen(function* () {
      const report = yield* importContacts(Stream.fromIterable(rowsOf(8)))
      assert.deepInclude(report, { read: 8, done: 7, new: 7, rejected: 1 })
      assert.deepStrictEqual(
        report.rejectedRows.map(({ line }) => line),
        [4]
      )
      const undone = yield* undoRun(report.run ?? "")
      assert.strictEqual(fake.stored.size, 0)
      assert.strictEqual(undone.deleted, 7)
    }).pipe(Effect.provide(Layer.merge(picky, RunLog.layerMemory())))
  })
})

describe("Rejected rows", () => {
  it.effect("are grouped by cause, with their values, and each has its place", () => {
    const fake = makeFake()
    const picky = layerTestContacts({
      ...fake.service,
      change: (changes, options) => {
        const bad = changes.findIndex(({ email }) => email.startsWith("bad"))
        return options?.dryRun === true || bad < 0
          ? fake.service.change(changes, options)
          : new InvalidInput({ field: `[${bad}].firstName`, issue: "it is too long" })
      }
    })
    const file = [
      "Name,Email,Status",
      "a,a@x.org,Active",
      "b,-,Active",
      "c,n/a,Active",
      "d,-,Active",
      "e,e@x.org,subscribed",
      "f,f@x.org",
      "g,bad1@x.org,Active",
      "h,bad2@x.org,Active"
    ].join("\n")
    const rows = readContacts(Stream.make(new TextEncoder().encode(file)), { columns: { Name: "FirstName" } })
    return Effect.gen(function* () {
      const { causes, rejected, rejectedRows } = yield* importContacts(rows)
      assert.deepStrictEqual(
        causes.map(({ code, column, count, first, values }) => [code, column, count, first.line, values]),
        [
          [
            "Address",
            "Email",
            3,
            3,
            [
              { value: "-", count: 2 },
              { value: "n/a", count: 1 }
            ]
          ],
          ["Service", undefined, 2, 8, []],
          ["Word", "Status", 1, 6, [{ value: "subscribed", count: 1 }]],
          ["Cells", undefined, 1, 7, []]
        ]
      )
      assert.include(causes[2]?.allowed ?? [], "Active")
      assert.strictEqual(
        causes.reduce((sum, { count }) => sum + count, 0),
        rejected
      )
      assert.deepInclude(rejectedRows[3], {
        line: 6,
        code: "Word",
        column: "Status",
        value: "subscribed",
        email: "e@x.org"
      })
      assert.deepInclude(rejectedRows[5], { line: 8, code: "Service", email: "bad1@x.org" })
    }).pipe(Effect.provide(Layer.merge(picky, RunLog.layerMemory())))
  })

  it("may be few, as a number or a share of what was read", () => {
    const isSuccess = (text: string, rejected: number, read = 1000) =>
      isWithinLimit({ read, rejected }, parseRejectionLimit(text))
    assert.deepStrictEqual(
      [isSuccess("20", 20), isSuccess("20", 21), isSuccess("0", 0), isSuccess("0", 1)],
      [true, false, true, false]
    )
    assert.deepStrictEqual(
      [isSuccess("5%", 50), isSuccess("5%", 51), isSuccess("0.1%", 1), isSuccess("0%", 1)],
      [true, false, true, false]
    )
    assert.isFalse(isWithinLimit({ read: 5, rejected: 1 }))
    for (const text of ["", "-1", "1.5", "101%", "x", "5 %%", "1e3"])
      assert.isUndefined(parseRejectionLimit(text), text)
  })
})

describe("An import of a source that can be read once", () => {
  /** Contacts of a generator, which is empty when it is read again. */
  const once = (count: number, contactOf: (index: number) => ContactPayload) =>
    Stream.fromIterable(
      (function* () {
        for (let index = 0; index < count; index++) yield contactOf(index)
      })()
    )

  it.effect("stores all of it, by a plan too, with the lines that it has", () => {
    const fake = makeFake()
    const rows = () => once(2500, (index) => ({ email: index % 10 === 3 ? "none" : `p${index % 2000}@example.com` }))
    return Effect.gen(function* () {
      const plan = yield* planImport(rows())
      assert.deepInclude(plan.summary, { read: 2500, new: 1800, rejected: 250, duplicates: 450 })
      const [first, second] = yield* Stream.runCollect(plan.rows)
      // The first 500 addresses come again in lines 2001 to 2500.
      assert.deepStrictEqual([first?.line, second?.line], [501, 502])
      const report = yield* importContacts(rows())
      assert.deepInclude(report, { read: 2500, done: 1800, new: 1800, rejected: 250, duplicates: 450 })
      assert.strictEqual(fake.stored.size, 1800)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(fake.layer, RunLog.layerMemory())))
  })

  it.effect("fails before anything is written if memory does not take it, and takes it in a file", () => {
    const fake = makeFake()
    const rows = () =>
      once(2400, (index) => ({ email: `p${index}@example.com`, customFields: { note: "x".repeat(30 * 1024) } }))
    const parts: Array<Uint8Array> = []
    const spool: PlanStorage = {
      write: (content) => Stream.runForEach(content, (part) => Effect.sync(() => void parts.push(part))),
      content: Stream.suspend(() => Stream.fromIterable(parts))
    }
    return Effect.gen(function* () {
      const error = yield* Effect.flip(importContacts(rows(), { record: false }))
      assert.deepInclude(error, { _tag: "SourceTooLarge", maximum: 64 * 1024 * 1024 })
      assert.strictEqual(fake.stored.size, 0)
      assert.deepInclude(yield* importContacts(rows(), { record: false, spool }), { done: 2400 })
      assert.strictEqual(fake.stored.size, 2400)
    }).pipe(Effect.provide(Layer.merge(fake.layer, RunLog.layerMemory())))
  })
})

describe("Contacts of every batch that others change while an import runs", () => {
  it.effect("lose no row, nor what the others wrote, and nobody is resubscribed", () => {
    const fake = makeFake()
    for (let index = 0; index < 3000; index += 2) fake.put(`p${index}@example.com`, { firstName: "Old" })
    let calls = 0
    const racing = layerTestContacts({
      ...fake.service,
      change: (changes, options) =>
        Effect.suspend(() => {
          // Each write of a batch finds other contacts changed, added and deleted than it read; the third of a batch finds none.
          if (options?.dryRun !== true && ++calls % 3 !== 0) {
            for (const { email } of changes.slice(0, 6)) {
              const at = Number(/\d+/.exec(email)?.[0])
              if (at % 6 === 0) fake.put(email, { firstName: `Theirs ${calls}`, status: "Unsubscribed" })
              else if (at % 6 === 1) fake.put(email, { lastName: `Theirs ${calls}` })
              else if (at % 6 === 2) fake.remove(email)
            }
          }
          return fake.service.change(changes, options)
        })
    })
    const rows = rowsOf(3000).map((row) => ({ ...row, status: "Active" as const }))
    return Effect.gen(function* () {
      const report = yield* importContacts(Stream.fromIterable(rows))
      assert.deepInclude(report, { read: 3000, done: 3000, outdated: 0, rejected: 0, notSent: 0, unknown: 0 })
      assert.isAbove(report.statusesKept, 0)
      for (const [index, { email, firstName }] of rows.entries()) {
        const { contact } = fake.of(email) ?? {}
        assert.strictEqual(contact?.firstName, firstName)
        if (index % 1000 === 0 && index % 6 === 0) assert.strictEqual(contact?.status, "Unsubscribed")
      }
      assert.match(fake.of("p1@example.com")?.contact.lastName ?? "", /^Theirs/)
    }).pipe(Effect.provide(Layer.merge(racing, RunLog.layerMemory())))
  })
})
