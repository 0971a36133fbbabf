/**
 * However often a run is interrupted, or loses an answer, each row has one outcome, the outcomes add up to what was read, and
 * when it is over they are what a person would count by hand.
 */
import { assert, it } from "@effect/vitest"
import {
  InvalidInput,
  layerTestContacts,
  OutcomeUnknown,
  readContacts,
  ServiceError,
  TooManyContacts,
  Unavailable
} from "@roster/domain"
import { Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect"
import { makeImport, makeImportPlan, RunLog, type RunReport, surveyContacts, undoRun } from "../../src/index.ts"
import { makeFake, reportOf } from "../changes/fakeContacts.ts"

/** The counts of a run that left nothing in the log. */
const noCounts = { created: 0, changed: 0, deleted: 0 }

const Row = Schema.Literals(["new", "changed", "same", "refused", "invalid", "duplicate"])

/** What becomes of the Nth write of a process. After the last of them all succeed. */
const Fate = Schema.Struct({
  how: Schema.Literals(["done", "interrupted", "lost", "unavailable"]),
  /** Whether the service made the change all the same. */
  isMade: Schema.Boolean
})

const lost = new ServiceError({
  operation: "contactsChangesPost",
  reason: new OutcomeUnknown({ recovery: "Look.", detail: "the connection closed" })
})
const down = new ServiceError({ operation: "contactsChangesPost", reason: new Unavailable({ detail: "gone" }) })

const outcomes = ({ alreadySo, changed, duplicates, new: added, notSent, rejected, ...rest }: RunReport) =>
  ({ new: added, changed, alreadySo, rejected, duplicates, notSent, unknown: rest.unknown }) as const

/** Each row has one outcome, and none is less than nothing. */
const addUp = (report: RunReport) => {
  const counts = outcomes(report)
  for (const count of Object.values(counts)) assert.isAtLeast(count, 0, JSON.stringify(counts))
  assert.strictEqual(report.unknownWhetherNew + report.outdated + report.deleted, 0)
  assert.strictEqual(
    Object.values(counts).reduce((sum, count) => sum + count, 0),
    report.read,
    JSON.stringify(counts)
  )
  assert.strictEqual(report.new + report.changed + report.alreadySo, report.done)
}

/** A service that takes a few contacts at once, refuses some, and to whose writes happens what is given. */
const makeUnlucky = (fates: Array<typeof Fate.Type>, many: number) => {
  const fake = makeFake()
  /** Runs as a write hangs. */
  let hangs = Effect.void
  const layer = layerTestContacts({
    ...fake.service,
    change: (changes, options) => {
      if (options?.dryRun === true) return fake.service.change(changes, options)
      if (changes.length > many) return new TooManyContacts({ maximum: many, count: changes.length })
      const bad = changes.findIndex(({ email }) => email.startsWith("refused"))
      if (bad >= 0) return new InvalidInput({ field: `[${bad}].firstName`, issue: "it is too long" })
      const { how, isMade } = fates.shift() ?? { how: "done", isMade: true }
      const make = fake.service.change(changes, options)
      if (how === "done") return make
      if (how === "unavailable") return down
      const then = how === "lost" ? lost : Effect.andThen(hangs, Effect.never)
      return isMade ? Effect.andThen(make, then) : then
    }
  })
  return { fake, layer, onHang: (then: Effect.Effect<void>) => void (hangs = then) }
}

const fileOf = (rows: ReadonlyArray<typeof Row.Type>, many: number): string =>
  [
    "Email,FirstName",
    ...rows.flatMap((kind, index) => [
      kind === "invalid" ? `${index},Ann` : `${kind}${index}@example.com,${kind === "duplicate" ? "Old" : "Ann"}`,
      ...(kind === "duplicate" ? [`${kind}${index}@example.com,Ann`] : [])
    ]),
    ...Array.from({ length: many }, (_, index) => `more${index}@example.com,Ann`)
  ].join("\n")

it.effect.prop(
  "an import adds up however it ends, and at its end to what was done",
  [
    Schema.Array(Row).check(Schema.isMinLength(1), Schema.isMaxLength(14)),
    Schema.Array(Fate).check(Schema.isMaxLength(8)),
    Schema.Literals([0, 0, 0, 1010]),
    Schema.Literals([1, 3])
  ],
  ([kinds, fates, more, concurrency]) => {
    const { fake, layer, onHang } = makeUnlucky([...fates], more === 0 ? 3 : 1000)
    const count = (of: typeof Row.Type) => kinds.filter((kind) => kind === of).length
    for (const [index, kind] of kinds.entries()) {
      if (kind === "changed" || kind === "same") {
        fake.put(`${kind}${index}@example.com`, { firstName: kind === "same" ? "Ann" : "Old" })
      }
    }
    const rows = readContacts(Stream.make(new TextEncoder().encode(fileOf(kinds, more))))
    return Effect.gen(function* () {
      const before = new Map(fake.stored)
      const survey = yield* surveyContacts(rows, { digests: true })
      /** One process, up to its end or to a write that hangs. */
      const go = Effect.scoped(
        Effect.gen(function* () {
          const upload = yield* makeImport(rows, survey, { concurrency })
          const hung = yield* Deferred.make<void>()
          onHang(Effect.asVoid(Deferred.succeed(hung, undefined)))
          const sending = yield* Effect.forkChild(upload.apply())
          yield* Effect.race(Fiber.await(sending), Deferred.await(hung))
          yield* Fiber.interrupt(sending)
          return yield* upload.report
        })
      )
      let report = yield* go
      addUp(report)
      for (let process = 1; report.notSent + report.unknown > 0; process++) {
        assert.isBelow(process, 12)
        report = yield* go
        addUp(report)
      }
      const [created, changed] = [count("new") + count("duplicate") + more, count("changed")]
      assert.deepInclude(outcomes(report), {
        rejected: count("refused") + count("invalid"),
        duplicates: count("duplicate"),
        notSent: 0,
        unknown: 0
      })
      assert.strictEqual(report.done, created + changed + count("same"))
      const [run, ...others] = yield* (yield* RunLog).list
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(run?.counts ?? noCounts, { created, changed, deleted: 0 })
      // One undo takes all of it back, at a service that is well again.
      if (run !== undefined) {
        const undone = yield* Effect.provide(undoRun(run.header.id), fake.layer)
        assert.deepInclude(undone, { outdated: 0, rejected: 0 })
      }
      assert.deepStrictEqual(fake.stored, before)
    }).pipe(Effect.provide(Layer.merge(layer, RunLog.layerMemory())))
  },
  { arbitrary: { runs: 25 } }
)

it.effect.prop(
  "a plan adds up however its apply ends, and at its end to what was done",
  [
    Schema.Array(Row).check(Schema.isMinLength(1), Schema.isMaxLength(14)),
    Schema.Array(Fate).check(Schema.isMaxLength(6))
  ],
  ([kinds, fates]) => {
    const { fake, layer, onHang } = makeUnlucky([...fates], 3)
    const count = (of: typeof Row.Type) => kinds.filter((kind) => kind === of).length
    for (const [index, kind] of kinds.entries()) {
      if (kind === "changed" || kind === "same") {
        fake.put(`${kind}${index}@example.com`, { firstName: kind === "same" ? "Ann" : "Old" })
      }
    }
    const rows = readContacts(Stream.make(new TextEncoder().encode(fileOf(kinds, 0))))
    return Effect.gen(function* () {
      const plan = yield* makeImportPlan(rows, yield* surveyContacts(rows))
      /** One process; `undefined` if a write hung. */
      const go = Effect.gen(function* () {
        const hung = yield* Deferred.make<undefined>()
        onHang(Effect.asVoid(Deferred.succeed(hung, undefined)))
        return yield* Effect.raceFirst(reportOf(Effect.map(plan.apply, ({ report }) => report)), Deferred.await(hung))
      })
      let report = yield* go
      for (let process = 1; report === undefined || report.notSent + report.unknown > 0; process++) {
        assert.isBelow(process, 12)
        if (report !== undefined) addUp(report)
        report = yield* go
      }
      addUp(report)
      assert.deepInclude(outcomes(report), { rejected: count("refused"), duplicates: 0, notSent: 0, unknown: 0 })
      const [created, changed] = [count("new") + count("duplicate"), count("changed")]
      assert.strictEqual(report.done, created + changed)
      const [run] = yield* (yield* RunLog).list
      assert.deepStrictEqual(run?.counts ?? noCounts, { created, changed, deleted: 0 })
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(layer, RunLog.layerMemory())))
  },
  { arbitrary: { runs: 25 } }
)
