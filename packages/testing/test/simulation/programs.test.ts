/** S75 Programs of several steps at once: each does all that it says, and none writes over what another has done. */
import { assert, describe } from "@effect/vitest"
import { ContactsService, type FaultPlan } from "@roster/domain"
import {
  awaitExport,
  changeAsRun,
  loadPlan,
  planImport,
  planDelete,
  type RunReport,
  undoRun,
  importContacts
} from "@roster/workflows"
import { Cause, Context, Deferred, Effect, Exit, Layer, Schedule, Stream } from "effect"
import { anyFault, layer as services, layers, valueOf, workload } from "./Workload.ts"

/** What one caller waits for, until another has come to it. */
class Signal extends Context.Service<Signal, Deferred.Deferred<string, unknown>>()("simulation/Signal") {}

const withSignal = (of: (typeof layers)[number][1]) => (faults: FaultPlan.FaultPlan) =>
  Layer.merge(of(faults), Layer.effect(Signal, Deferred.make<string, unknown>()))

const layer = withSignal(services)

const signal = <A, E, R>(effect: Effect.Effect<A, E, R>, text: (value: A) => string) =>
  Effect.onExit(effect, (exit) =>
    // Who is interrupted runs again.
    Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
      ? Effect.void
      : Signal.use((deferred) => Deferred.done(deferred, Exit.map(exit, text)))
  )

const signalled = Effect.flatMap(Signal, Deferred.await)

/** Signals a text once, and gives it to a caller who runs again. */
const once = <E, R>(text: Effect.Effect<string, E, R>) =>
  Effect.flatMap(Signal.use(Deferred.isDone), (isMade) =>
    isMade
      ? signalled
      : Effect.andThen(
          signal(text, (made) => made),
          signalled
        )
  )

/** Tries until it succeeds, as somebody who runs a program again does. */
const again = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(program, { schedule: Schedule.spaced("1 minute"), times: 20 })

const people = ["ann", "ben", "cleo"].map((name) => ({ email: `${name}@example.com`, firstName: name }))

const contentsOf = ContactsService.use((contacts) =>
  Effect.map(contacts.list({ limit: 100 }), (all) =>
    all.map(({ email, firstName, status }) => [email, firstName, status].join(" ")).toSorted()
  )
)

const addUp = ({ done, duplicates, notSent, outdated, read, rejected, unknown }: RunReport) => {
  assert.strictEqual(read, done + outdated + rejected + duplicates + notSent + unknown)
}

const wholly = (report: RunReport) =>
  Effect.sync(() => {
    addUp(report)
    assert.strictEqual(report.notSent + report.unknown, 0)
    return report
  })

const faults = { "contacts.change": anyFault, "contacts.add": anyFault, "contacts.get": anyFault } as const

/** The situations in which a recorded change can be left. */
const ofChanges = ["a change is recorded and not yet made", "a recorded change is made", "a run resumes"]

describe("programs at once", () => {
  const upload = again(Effect.flatMap(importContacts(Stream.fromIterable(people)), wholly))
  for (const [where, of] of layers) {
    workload(
      `the same file uploaded twice is there once, and each contact is new once${where}`,
      {
        layer: withSignal(of),
        interruptions: true,
        marks: ofChanges,
        callers: { one: upload, two: upload },
        faults,
        invariant: ({ one, two }) =>
          Effect.gen(function* () {
            const [first, second] = [valueOf(one), valueOf(two)]
            assert.deepStrictEqual([first.done, second.done], [3, 3])
            assert.deepStrictEqual(
              yield* contentsOf,
              people.map(({ email, firstName }) => `${email} ${firstName} Active`)
            )
            // An earlier try of a run that resumed may have created them.
            const created = new Map([first, second].map((report) => [report.run, report.new]))
            assert.isAtMost(
              Array.from(created.values()).reduce((sum, count) => sum + count, 0),
              3
            )
          })
      },
      { known: ["1025"] }
    )
  }

  const planMade = Effect.gen(function* () {
    yield* again(ContactsService.use((contacts) => contacts.add(people)))
    const changed = people.map(({ email }) => ({ email, firstName: "planned" }))
    const plan = yield* again(planImport(Stream.fromIterable(changed)))
    return yield* Stream.mkString(Stream.decodeText(plan.content))
  })
  const planned = Effect.gen(function* () {
    const plan = yield* loadPlan(Stream.make(new TextEncoder().encode(yield* once(planMade))))
    return yield* again(
      Effect.flatMap(
        Effect.map(plan.apply, ({ report }) => report),
        wholly
      )
    )
  }).pipe(Effect.scoped)
  const written = Effect.gen(function* () {
    yield* signalled
    const contacts = yield* ContactsService
    return yield* again(contacts.update("ben@example.com", { firstName: "other" }))
  })
  workload("a plan that is applied while another writes leaves what the other wrote", {
    layer,
    interruptions: true,
    marks: ofChanges,
    callers: { plans: planned, writes: written, writesToo: written },
    faults: { ...faults, "contacts.update": anyFault },
    invariant: ({ plans, writes }) =>
      Effect.gen(function* () {
        const report = valueOf(plans)
        valueOf(writes)
        assert.deepStrictEqual(yield* contentsOf, [
          "ann@example.com planned Active",
          "ben@example.com other Active",
          "cleo@example.com planned Active"
        ])
        assert.strictEqual(report.done + report.outdated, 3)
      })
  })

  const recorded = signal(upload, ({ run = "" }) => run)
  const undone = Effect.flatMap(signalled, (id) => again(Effect.flatMap(Effect.scoped(undoRun(id)), wholly)))
  // Who is interrupted does not upload again what may be undone.
  const undoneHere = Effect.flatMap(Signal.use(Deferred.isDone), (isUploaded) =>
    isUploaded ? undone : Effect.andThen(recorded, undone)
  )
  workload("a run that two undo is undone, and nothing else is", {
    layer,
    interruptions: true,
    marks: [...ofChanges, "an undo has seen what it changes"],
    callers: {
      uploads: undoneHere,
      undoes: undone,
      adds: again(ContactsService.use((contacts) => contacts.add([{ email: "other@example.com" }]))),
      changes: Effect.andThen(
        signalled,
        ContactsService.use((contacts) => contacts.update("ben@example.com", { firstName: "mine" }))
      )
    },
    faults,
    invariant: ({ adds, changes, undoes, uploads }) =>
      Effect.gen(function* () {
        valueOf(adds)
        const reports = [valueOf(uploads), valueOf(undoes)]
        // What others have changed since is theirs. Nobody but the undone run gave the contact its mail.
        const theirs = Exit.isSuccess(changes) ? ["ben@example.com mine NotConfirmed"] : []
        assert.deepStrictEqual(yield* contentsOf, [...theirs, "other@example.com  Active"])
        assert.isAtMost(
          reports.reduce((sum, { deleted }) => sum + deleted, 0),
          3
        )
      })
  })

  const seen = Effect.gen(function* () {
    const contacts = yield* ContactsService
    yield* again(contacts.add(people))
    const plan = yield* again(planDelete(contacts.stream()))
    return yield* Stream.mkString(Stream.decodeText(plan.content))
  })
  const deleted = Effect.gen(function* () {
    const plan = yield* loadPlan(Stream.make(new TextEncoder().encode(yield* once(seen))))
    return yield* again(
      Effect.flatMap(
        Effect.map(plan.apply, ({ report }) => report),
        wholly
      )
    )
  })
  const left = Effect.andThen(
    signalled,
    again(changeAsRun({ email: "ann@example.com", write: { status: "Unsubscribed" } }, { command: "status" })).pipe(
      Effect.exit
    )
  )
  workload("a deletion keeps whom others changed meanwhile", {
    layer,
    interruptions: true,
    marks: ofChanges,
    callers: { deletes: deleted, leaves: left },
    faults,
    invariant: ({ deletes, leaves }) =>
      Effect.gen(function* () {
        const report = valueOf(deletes)
        const now = yield* contentsOf
        const hasLeft = Exit.isSuccess(valueOf(leaves)) && now.length > 0
        assert.deepStrictEqual(now, hasLeft ? ["ann@example.com ann Unsubscribed"] : [])
        assert.strictEqual(report.done + report.outdated, 3)
      })
  })

  const exported = Effect.gen(function* () {
    const contacts = yield* ContactsService
    const { id, link } = yield* again(contacts.export())
    yield* awaitExport(id)
    return yield* again(Stream.mkString(Stream.decodeText(contacts.download(link))))
  })
  const addedAndExported = Effect.andThen(again(ContactsService.use((contacts) => contacts.add(people))), exported)
  workload("who waits for an export gets its file, however late and seldom it is told", {
    layer,
    marks: ["the status of an export is not told"],
    callers: { one: addedAndExported, two: exported },
    faults: { "contacts.export": anyFault, "contacts.exportStatus": anyFault, "contacts.download": anyFault },
    invariant: ({ one, two }) =>
      Effect.sync(() => {
        assert.isTrue(people.every(({ email }) => valueOf(one).includes(email)))
        assert.isString(valueOf(two))
      })
  })
})
