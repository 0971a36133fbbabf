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
import { isWithinLimit, parseRejectionLimit, previewUndo, RunLog, undoRun, uploadContacts } from "../../src/index.ts"
import { makeFake } from "../changes/fakeContacts.ts"

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

describe("An upload that lost an answer", () => {
  for (const isDone of [true, false]) {
    it.effect(`goes on as the same run, whether it was carried out (${isDone}), and its counts add up`, () => {
      const fake = makeFake()
      return Effect.gen(function* () {
        const rows = rowsOf(2500)
        const first = yield* uploadContacts(Stream.fromIterable(rows), { concurrency: 1 })
        assert.deepInclude(first, { read: 2500, done: 1000, unknown: 1000, notSent: 500 })
        assert.strictEqual(first.new + first.changed + first.alreadySo + first.unknownWhetherNew, first.done)
        const second = yield* uploadContacts(Stream.fromIterable(rows), { concurrency: 1 })
        assert.deepInclude(second, {
          run: first.run,
          read: 2500,
          done: 2500,
          doneEarlier: 1000,
          unknown: 0,
          notSent: 0
        })
        assert.deepInclude(second, { new: 2500, changed: 0, alreadySo: 0 })
        const [logged] = yield* (yield* RunLog).list
        assert.deepStrictEqual(logged?.counts, { created: 2500, changed: 0, deleted: 0 })
        const third = yield* uploadContacts(Stream.fromIterable(rows), { concurrency: 1 })
        assert.notStrictEqual(third.run, first.run)
        assert.deepInclude(third, { done: 2500, doneEarlier: 0, new: 0, alreadySo: 2500 })
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
      const first = yield* uploadContacts(Stream.fromIterable(rows), { concurrency: 1 })
      assert.strictEqual(first.done, 1000)
      yield* undoRun(first.run ?? "")
      assert.strictEqual(fake.stored.size, 0)
      const second = yield* uploadContacts(Stream.fromIterable(rows), { concurrency: 1 })
      assert.deepInclude(second, { done: 1500, doneEarlier: 0, new: 1500 })
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

describe("An upload by a key that may not view contacts", () => {
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
      const report = yield* uploadContacts(Stream.fromIterable(rowsOf(3)))
      assert.deepInclude(report, { read: 3, done: 3, new: 0, changed: 0, alreadySo: 0, unknownWhetherNew: 3 })
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
      const report = yield* uploadContacts(Stream.fromIterable(rowsOf(8)))
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
      const { causes, rejected, rejectedRows } = yield* uploadContacts(rows)
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
