/**
 * What could not do its work fails: each program that writes, at a service that refuses every call from the n-th on, ends with
 * `Stopped` if anything is left, says how far it came, and does the rest when it is run again.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  AccessDenied,
  type ContactPayload,
  ContactsService,
  readContacts,
  RunsService,
  ServiceError,
  type ServiceErrorReason,
  Unauthorized,
  Unavailable
} from "@roster/domain"
import {
  addAll,
  addRows,
  importContacts,
  makeImport,
  planConversion,
  planDelete,
  planImport,
  planUpdate,
  type Plan,
  type RunLog,
  type RunReport,
  Stopped,
  surveyContacts,
  undoRun
} from "@roster/workflows"
import { Context, Effect, Layer, Predicate, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { layerMemory, withRuns } from "../../src/layers/ServiceLayers.ts"
import { amount } from "../../src/simulation/LongRun.ts"
import { foreign, noSuchPath } from "../conformance/ForeignService.ts"

const reasons: ReadonlyArray<ServiceErrorReason> = [
  new Unauthorized(),
  new AccessDenied({ required: "ModifyContacts" }),
  new Unavailable({ status: 503, detail: "too busy" }),
  new Unavailable({ detail: "the connection was refused" })
]

/** What refuses calls, while it is on, from one of them on. */
interface Gate {
  from: number
  reason: ServiceErrorReason
  calls: number
}

const openGate = (): Gate => ({ from: Infinity, reason: new Unauthorized(), calls: 0 })

/** A service whose calls pass the gate. */
const gated = <Service extends object>(service: Service, gate: Gate): Service =>
  new Proxy(service, {
    get: (target, key) => {
      const method: unknown = Reflect.get(target, key)
      if (!Predicate.isFunction(method)) return method
      return (...given: ReadonlyArray<unknown>) => {
        const call: unknown = Reflect.apply(method, target, given)
        const pass = Effect.suspend(() =>
          ++gate.calls >= gate.from
            ? Effect.fail(new ServiceError({ operation: "contactsPost", reason: gate.reason }))
            : Effect.void
        )
        if (Effect.isEffect(call)) return Effect.andThen(pass, call)
        return Stream.isStream(call) ? Stream.concat(Stream.fromEffectDrain(pass), call) : call
      }
    }
  })

const services = [
  // Nightly more than one call takes.
  { name: "on SQL", contacts: layerMemory, count: amount({ ci: 20, long: 1001 }) },
  { name: "at another service", contacts: foreign(noSuchPath), count: 20 }
] as const

const peopleOf = (count: number, firstName: string): ReadonlyArray<ContactPayload> =>
  Array.from({ length: count }, (_, index) => ({
    email: `p${index}@example.com`,
    firstName,
    customFields: { since: "25.07.2022" }
  }))

const rowsOf = (people: ReadonlyArray<ContactPayload>) =>
  readContacts(
    Stream.make(
      new TextEncoder().encode(
        ["email,firstName,since", ...people.map(({ email }) => `${email},New,25.07.2022`), ""].join("\n")
      )
    )
  )

const one = { concurrency: 1 }

type Needs = ContactsService | RunLog | Scope.Scope

interface Program {
  readonly name: string
  /** Whether the contacts are there before it. */
  readonly isOfStored: boolean
  /** Whether the same again writes nothing. */
  readonly isHarmless: boolean
  /** Makes what is run, and run again, while the service answers. */
  readonly make: Effect.Effect<Effect.Effect<RunReport | undefined, unknown, Needs>, unknown, Needs>
}

const stored = ContactsService.use((contacts) => Effect.succeed(contacts.stream()))

const applyOf = <E, E2>(name: string, plan: Effect.Effect<Plan<E>, E2, Needs>): Program => ({
  name: `apply of ${name}`,
  isOfStored: true,
  isHarmless: true,
  make: Effect.map(plan, (made) => Effect.map(made.applyWith(one), ({ report }) => report))
})

const programsOf = (people: ReadonlyArray<ContactPayload>): ReadonlyArray<Program> => {
  const rows = rowsOf(people)
  return [
    {
      name: "addAll",
      isOfStored: false,
      isHarmless: false,
      make: Effect.succeed(Effect.as(Stream.runDrain(addAll(Stream.fromIterable(people), one)), undefined))
    },
    { name: "addRows", isOfStored: false, isHarmless: false, make: Effect.succeed(addRows(rows, one)) },
    { name: "importContacts", isOfStored: false, isHarmless: true, make: Effect.succeed(importContacts(rows, one)) },
    {
      name: "importContacts without a record",
      isOfStored: false,
      isHarmless: false,
      make: Effect.succeed(importContacts(rows, { ...one, record: false }))
    },
    {
      name: "makeImport",
      isOfStored: true,
      isHarmless: true,
      make: Effect.map(surveyContacts(rows, { digests: true }), (survey) =>
        Effect.gen(function* () {
          const importing = yield* makeImport(rows, survey, one)
          yield* importing.apply()
          return yield* importing.report
        }).pipe(Effect.scoped)
      )
    },
    applyOf("planImport", planImport(rows)),
    applyOf(
      "planUpdate",
      Effect.flatMap(stored, (contacts) => planUpdate(contacts, { lastName: "Plan" }))
    ),
    applyOf(
      "planConversion",
      Effect.flatMap(stored, (contacts) => planConversion(contacts, { since: "date:DD.MM.YYYY" }))
    ),
    applyOf("planDelete", Effect.flatMap(stored, planDelete)),
    {
      name: "undoRun",
      isOfStored: false,
      isHarmless: true,
      make: Effect.map(importContacts(rows, one), ({ run = "" }) => Effect.scoped(undoRun(run)))
    }
  ]
}

const contents = Stream.runCollect(Stream.unwrap(stored)).pipe(
  Effect.map((found) =>
    found.map(({ customFields = {}, email, firstName, lastName }) => [email, firstName, lastName, { ...customFields }])
  )
)

const addsUp = (report: RunReport) => {
  const { done, duplicates, leftOut, notSent, outdated, read, rejected, unknown } = report
  assert.strictEqual(read, done + leftOut + outdated + rejected + duplicates + notSent + unknown)
}

describe.each(services)("programs that are stopped $name", ({ contacts, count }) => {
  const opened = <A, E>(use: (gate: Gate) => Effect.Effect<A, E, Needs>) => {
    const gate = openGate()
    const services = Layer.flatMap(Layer.fresh(contacts), (context) =>
      Layer.succeedContext(
        Context.add(
          Context.add(context, ContactsService, gated(Context.get(context, ContactsService), gate)),
          RunsService,
          gated(Context.get(context, RunsService), gate)
        )
      )
    )
    return use(gate).pipe(Effect.scoped, Effect.provide(withRuns(services)))
  }

  it.effect.each(programsOf(peopleOf(count, "New")))(
    "fail, and $name does the rest when it is run again",
    ({ isHarmless, isOfStored, make }) =>
      Effect.gen(function* () {
        const begun = Effect.gen(function* () {
          if (isOfStored) yield* importContacts(Stream.fromIterable(peopleOf(count, "Old")))
          return yield* make
        })
        const wanted = yield* opened((gate) =>
          Effect.gen(function* () {
            const program = yield* begun
            gate.calls = 0
            yield* program
            return { calls: gate.calls, contents: yield* contents }
          })
        )
        let stops = 0
        const step = Math.max(1, Math.floor(wanted.calls / amount({ ci: 3, long: 100 })))
        for (let from = 1; from <= wanted.calls; from += step) {
          const reason = reasons[from % reasons.length] ?? new Unauthorized()
          yield* opened((gate) =>
            Effect.gen(function* () {
              const program = yield* begun
              Object.assign(gate, { from, reason, calls: 0 })
              const error = yield* Effect.orElseSucceed(Effect.flip(program), () => undefined)
              Object.assign(gate, { from: Infinity })
              if (error === undefined) {
                // All had their answers: the calls after that only end the run.
                assert.deepStrictEqual(yield* contents, wanted.contents)
                return
              }
              stops++
              if (!(error instanceof Stopped)) return assert.fail(String(error))
              assert.strictEqual(error.reason._tag, reason._tag)
              assert.strictEqual(error.isRetryable, reason._tag === "Unavailable")
              assert.include(error.message, error.reason.message)
              addsUp(error.report)
              // A run that could not be given back is free by then.
              yield* TestClock.adjust("2 minutes")
              const again = yield* program
              if (again !== undefined) addsUp(again)
              assert.deepStrictEqual(yield* contents, wanted.contents)
              if (!isHarmless) return
              const { changed, deleted, new: added } = (yield* program) ?? error.report
              assert.deepStrictEqual([added, changed, deleted], [0, 0, 0])
              assert.deepStrictEqual(yield* contents, wanted.contents)
            })
          )
        }
        assert.isAbove(stops, 0)
      })
  )
})
