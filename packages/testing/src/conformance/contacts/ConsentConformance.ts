/** What every layer promises of a person who left: no write of many lowers their status. (docs/decisions/upsert.md) */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import {
  type AddOptions,
  type ContactPayload,
  ContactsService,
  ContactStatus,
  type EmailAddress,
  readContacts
} from "@roster/domain"
import {
  addAll,
  addRows,
  importContacts,
  planDelete,
  planImport,
  RunLog,
  type RunReport,
  undoRun
} from "@roster/workflows"
import { Effect, Stream } from "effect"
import { seconds } from "./ContactFacts.ts"
import { eventually } from "../cases/Eventually.ts"
import { file, utf8 } from "../jobs/Importing.ts"
import { type Place, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

/** The statuses that stop mail, the strictest first; the five others replace each other. */
const ladder = ["Abuse", "Unsubscribed", "Bounced", "NotConfirmed"] as const

type Lifted = AddOptions["resubscribe"]

/** What docs/decisions/upsert.md says of a contact: `from` is what it has, if it is there, and `to` what is given. */
const said = ({ from, to }: Pick<Person, "from" | "to">, resubscribe: Lifted): ContactStatus => {
  if (from === undefined || resubscribe === undefined) return to
  const names: ReadonlyArray<ContactStatus> =
    resubscribe === true ? ["Unsubscribed", "Bounced", "NotConfirmed"] : resubscribe === false ? [] : resubscribe
  if (names.includes(from)) return to
  if (to === "NotConfirmed") return from
  const above = ladder.slice(
    0,
    ladder.findIndex((status) => status === from)
  )
  return (ladder as ReadonlyArray<ContactStatus>).includes(from) &&
    !(above as ReadonlyArray<ContactStatus>).includes(to)
    ? from
    : to
}

interface Person {
  readonly email: EmailAddress
  /** The status of a contact that is there. */
  readonly from: ContactStatus | undefined
  readonly to: ContactStatus
}

/** Each status that a contact can have, and nobody, for each status that a write can give. */
const peopleOf = ({ email }: Place) =>
  [...ContactStatus.literals, undefined].flatMap((from) =>
    ContactStatus.literals.map((to): Person => ({ email: email(`${from}-${to}`.toLowerCase()), from, to }))
  )

/** People who left, in a file that is older. */
const gonePeople = ({ email }: Place) =>
  ladder.map((from): Person => ({ email: email(`${from}-gone`.toLowerCase()), from, to: "Active" }))

const addPeople = (people: ReadonlyArray<Person>) =>
  Effect.flatMap(ContactsService, (contacts) =>
    contacts.add(
      people.flatMap(({ email, from }) => (from === undefined ? [] : [{ email, status: from, firstName: "Before" }]))
    )
  )

const payloads = (people: ReadonlyArray<Person>) =>
  people.map(({ email, to }): ContactPayload => ({ email, status: to, firstName: "After" }))

const csv = (people: ReadonlyArray<Person>) =>
  `Email,FirstName,Status\n${people.map(({ email, to }) => `${email},After,${to}\n`).join("")}`

const rowsOf = (people: ReadonlyArray<Person>) => readContacts(Stream.make(utf8(csv(people))))

/** The status of people, and whether their names were written. */
const now = (own: Place, people: ReadonlyArray<Person>) =>
  Effect.flatMap(ContactsService, (contacts) =>
    Effect.map(contacts.list({ rule: own.rule, limit: 1000 }), (found) => {
      const byEmail = new Map(found.map((contact) => [contact.email, contact]))
      return people.map(({ email }) => [email, byEmail.get(email)?.status, byEmail.get(email)?.firstName])
    })
  )

const guarded = { resubscribe: false }

/** The statuses that were kept, by the places of people; `undefined` where the door does not tell. */
type Kept = ReadonlyArray<readonly [place: number, status: unknown]> | undefined

type Door = (
  people: ReadonlyArray<Person>,
  resubscribe: Lifted,
  own: Place
) => Effect.Effect<Kept, unknown, ContactsService>

const ofRows = ({ keptStatuses, statusesKept }: RunReport): Kept => {
  assert.strictEqual(statusesKept, keptStatuses.length)
  // The first row is on the second line.
  return keptStatuses.map(({ line, status }) => [line - 2, status])
}

const ofAnswers = (people: ReadonlyArray<Person>, answered: ReadonlyArray<{ readonly status?: unknown }>): Kept =>
  answered.flatMap(({ status }, place) => (status === people[place]?.to ? [] : [[place, status] as const]))

/** The ways in of many contacts. Those that are no runs of a log take rows as they are given. */
const doors: Readonly<Record<string, Door>> = {
  add: (people, resubscribe) =>
    Effect.flatMap(ContactsService, (contacts) =>
      Effect.map(contacts.add(payloads(people), { resubscribe }), (answered) => ofAnswers(people, answered))
    ),
  addWithoutAnswer: (people, resubscribe) =>
    Effect.flatMap(ContactsService, (contacts) =>
      Effect.map(contacts.addWithoutAnswer(new Set(payloads(people)), { resubscribe }), ({ keptStatuses }) =>
        keptStatuses.map(({ index, status }) => [index, status])
      )
    ),
  change: (people, resubscribe = false) =>
    Effect.flatMap(ContactsService, (contacts) =>
      Effect.as(
        contacts.change(
          people.map(({ email, from, to }) => ({
            email,
            seen: from === undefined ? null : { status: from, firstName: "Before" },
            write: { status: to, firstName: "After", resubscribe }
          }))
        ),
        undefined
      )
    ),
  import: Effect.fnUntraced(function* (people, resubscribe, own) {
    const contacts = yield* ContactsService
    // The job is done when its last row is there.
    const marker: Person = { email: own.email("last"), from: undefined, to: "Active" }
    yield* contacts.import(file(utf8(csv([...people, marker]))), { resubscribe })
    yield* eventually(contacts.list({ rule: own.where(`email = '${marker.email}'`) }), (found) => found.length === 1)
    return undefined
  }),
  addRows: (people, resubscribe) => Effect.map(addRows(rowsOf(people), { resubscribe }), ofRows),
  addAll: (people, resubscribe) =>
    Effect.map(Stream.runCollect(addAll(Stream.fromIterable(payloads(people)), { resubscribe })), (outcomes) =>
      outcomes.flatMap((outcome, place) =>
        outcome._tag === "Accepted" && outcome.keptStatus !== undefined ? [[place, outcome.keptStatus] as const] : []
      )
    ),
  importContacts: (people, resubscribe) =>
    importContacts(rowsOf(people), { resubscribe }).pipe(Effect.map(ofRows), Effect.provide(RunLog.layerMemory())),
  "importContacts, unrecorded": (people, resubscribe) =>
    importContacts(rowsOf(people), { resubscribe, record: false }).pipe(
      Effect.map(ofRows),
      Effect.provide(RunLog.layerMemory())
    ),
  "a plan and its apply": Effect.fnUntraced(function* (people, resubscribe) {
    const plan = yield* Effect.scoped(planImport(rowsOf(people), { resubscribe }))
    const { report } = yield* plan.apply
    assert.deepInclude(report, { outdated: 0, rejected: 0, notSent: 0, unknown: 0 })
    const rows = yield* Stream.runCollect(plan.rows)
    assert.strictEqual(rows.filter(({ keepsStatus }) => keepsStatus).length, plan.summary.statusesKept)
    return undefined
  }, Effect.provide(RunLog.layerMemory()))
}

/** What is lifted: each name stands in one of them, alone or with others. */
const lifts: ReadonlyArray<Lifted> = [false, true, ["Bounced", "NotConfirmed"], ["Abuse"]]

export const consentConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: consent", () => {
    it.effect("an add without the option writes each status, as the interface has it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const people = peopleOf(own)
        yield* addPeople(people)
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer(payloads(people)), { keptStatuses: [] })
        assert.deepStrictEqual(
          yield* now(own, people),
          people.map(({ email, to }) => [email, to, "After"])
        )
        // Without a status nothing is asked, and nothing is kept.
        const silent = people.map(({ email }) => ({ email, lastName: own.domain }))
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer(silent, guarded), { keptStatuses: [] })
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer([], guarded), { keptStatuses: [] })
      })
    )

    for (const [name, door] of Object.entries(doors)) {
      it.effect(`${name} lowers no status that it does not lift, for any two statuses`, () =>
        Effect.gen(function* () {
          for (const resubscribe of lifts) {
            const own = place()
            const people = peopleOf(own)
            yield* addPeople(people)
            const kept = yield* door(people, resubscribe, own)
            const expected = people.map((person) => said(person, resubscribe))
            assert.deepStrictEqual(
              yield* now(own, people),
              people.map(({ email }, index) => [email, expected[index], "After"]),
              JSON.stringify(resubscribe)
            )
            if (kept === undefined) continue
            const all = people.map(({ to }, index) => [index, expected[index], to] as const)
            assert.deepStrictEqual<unknown>(
              kept,
              all.flatMap(([index, status, to]) => (status === to ? [] : [[index, status]]))
            )
          }
        })
      )
    }

    it.effect("a status that is kept keeps its date", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const people = gonePeople(place())
        const before = yield* addPeople(people)
        const kept = yield* contacts.add(payloads(people), guarded)
        assert.deepStrictEqual(
          kept.map(({ statusChangeDate }) => seconds(statusChangeDate)),
          before.map(({ statusChangeDate }) => seconds(statusChangeDate))
        )
      })
    )

    it.effect("knows somebody by every spelling of their address, and takes contacts of one add in order", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email } = place()
        const [gone, here] = [email("Gone"), email("here")]
        yield* contacts.add([
          { email: gone, status: "Unsubscribed" },
          { email: here, status: "Active" }
        ])
        const { keptStatuses } = yield* contacts.addWithoutAnswer(
          [
            { email: email("gone"), status: "Engaged" },
            { email: gone, status: "Active", lastName: domain },
            { email: here, status: "Abuse" },
            { email: email("HERE"), status: "Active" }
          ],
          guarded
        )
        assert.deepStrictEqual(keptStatuses, [
          { index: 1, status: "Unsubscribed" },
          { index: 3, status: "Abuse" }
        ])
        assert.deepStrictEqual((yield* contacts.get(gone)).status, "Unsubscribed")
        assert.deepStrictEqual((yield* contacts.get(here)).status, "Abuse")
      })
    )

    it.effect("an add with an idempotency key repeats its own answer, and not that of one without the guard", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const people = gonePeople(own)
        yield* addPeople(people)
        const options = { ...guarded, idempotencyKey: crypto.randomUUID() }
        const first = yield* contacts.addWithoutAnswer(payloads(people), options)
        assert.strictEqual(first.keptStatuses.length, people.length)
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer(payloads(people), options), first)
        const other = contacts.add(payloads(people), { ...options, resubscribe: true })
        yield* refused(other, "IdempotencyKeyReused")
        assert.deepStrictEqual(
          yield* now(own, people),
          people.map(({ email, from }) => [email, from, "After"])
        )
      })
    )

    it.effect("an undo changes back whom its run unsubscribed, but for who left again since", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const [wrong, left] = [own.email("wrong"), own.email("left")]
        yield* contacts.add([{ email: wrong }, { email: left }])
        const people = [wrong, left].map((email): Person => ({ email, from: undefined, to: "Unsubscribed" }))
        const { run = "" } = yield* importContacts(rowsOf(people))
        yield* contacts.add([{ email: left, status: "Unsubscribed" }])
        assert.deepInclude(yield* undoRun(run), { untold: 0, partlyDone: 1 })
        assert.deepStrictEqual(
          (yield* now(own, people)).map(([, status]) => status),
          ["Active", "Unsubscribed"]
        )
      }).pipe(Effect.scoped, Effect.provide(RunLog.layerMemory()))
    )

    it.effect("an undo of a deletion brings back the deleted, and leaves alone who left since", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const [deleted, left] = [own.email("deleted"), own.email("left")]
        yield* contacts.add([{ email: deleted, status: "Engaged" }, { email: left }])
        const plan = yield* planDelete(contacts.stream({ rule: own.rule }))
        const { report, undo } = yield* plan.apply
        assert.deepInclude(report, { deleted: 2, outdated: 0 })
        assert.deepStrictEqual(yield* contacts.list({ rule: own.rule }), [])
        yield* contacts.add([{ email: left, status: "Unsubscribed" }])
        assert.deepInclude(yield* undo, { new: 1, outdated: 1 })
        const found = yield* contacts.list({ rule: own.rule })
        assert.deepStrictEqual(found.map(({ email, status }) => `${email} ${status}`).toSorted(), [
          `${deleted} Engaged`,
          `${left} Unsubscribed`
        ])
      }).pipe(Effect.provide(RunLog.layerMemory()))
    )
  })
}
