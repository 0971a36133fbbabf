/** What every layer promises of a person who left: no import makes them Active again. (docs/decisions/upsert.md) */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import {
  type ContactPayload,
  ContactsService,
  ContactStatus,
  type EmailAddress,
  type ImportOptions,
  readContacts
} from "@roster/domain"
import { addAll, addRows, importContacts, type ImportContactsOptions, planDelete, RunLog } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { seconds } from "./ContactFacts.ts"
import { eventually } from "../cases/Eventually.ts"
import { file, utf8 } from "../jobs/Importing.ts"
import { type Place, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

const withheld = ["Unsubscribed", "Abuse", "Bounced", "NotConfirmed"] as const
const mailed = ["Active", "Engaged", "Transactional"] as const

/** One contact of each withheld status for each status that would resubscribe it. */
const pairs = withheld.flatMap((from) => mailed.map((to) => ({ from, to })))

interface Person<From extends ContactStatus = ContactStatus> {
  readonly email: EmailAddress
  readonly from: From
  readonly to: ContactStatus
}

/** People with a status that is theirs, and one that a file gives them. */
const peopleWith = <From extends ContactStatus>(
  { email }: Place,
  some: ReadonlyArray<{ readonly from: From; readonly to: ContactStatus }>
) => some.map(({ from, to }): Person<From> => ({ email: email(`${from}-${to}`.toLowerCase()), from, to }))

const peopleOf = (own: Place) => peopleWith(own, pairs)

const addPeople = (people: ReadonlyArray<Person>) =>
  Effect.flatMap(ContactsService, (contacts) =>
    contacts.add(people.map(({ email, from }) => ({ email, status: from, firstName: "Before" })))
  )

/** The payloads by which people would be resubscribed. */
const payloads = (people: ReadonlyArray<Person>) =>
  people.map(({ email, to }): ContactPayload => ({ email, status: to, firstName: "After" }))

const csv = (people: ReadonlyArray<Person>) =>
  `Email,FirstName,Status\n${people.map(({ email, to }) => `${email},After,${to}\n`).join("")}`

const rowsOf = (people: ReadonlyArray<Person>) => readContacts(Stream.make(utf8(csv(people))))

/** The status of people, and whether their names were written. */
const now = (people: ReadonlyArray<Person>) =>
  Effect.flatMap(ContactsService, (contacts) =>
    Effect.forEach(people, ({ email }) =>
      Effect.map(contacts.get(email), ({ firstName, status }) => [email, status, firstName] as const)
    )
  )

const keeping = (people: ReadonlyArray<Person>) => people.map(({ email, from }) => [email, from, "After"] as const)
const resubscribed = (people: ReadonlyArray<Person>) => people.map(({ email, to }) => [email, to, "After"] as const)

const guarded = { resubscribe: false }

export const consentConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: consent", () => {
    it.effect("add resubscribes, as the interface has it, unless it is told not to", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const people = peopleOf(place())
        const before = yield* addPeople(people)
        const kept = yield* contacts.add(payloads(people), guarded)
        assert.deepStrictEqual(
          kept.map(({ email, firstName, status }) => [email, status, firstName]),
          keeping(people).map((each) => [...each])
        )
        assert.deepStrictEqual(
          kept.map(({ statusChangeDate }) => seconds(statusChangeDate)),
          before.map(({ statusChangeDate }) => seconds(statusChangeDate))
        )
        yield* contacts.add(payloads(people))
        assert.deepStrictEqual(yield* now(people), resubscribed(people))
        yield* addPeople(people)
        yield* contacts.add(payloads(people), { resubscribe: true })
        assert.deepStrictEqual(yield* now(people), resubscribed(people))
      })
    )

    it.effect("with the guard every other change of status is made, and new contacts get theirs", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const all = ContactStatus.literals.flatMap((from) => ContactStatus.literals.map((to) => ({ from, to })))
        const isGuarded = ({ from, to }: Pick<Person, "from" | "to">) =>
          pairs.some((pair) => pair.from === from && pair.to === to)
        const own = place()
        const { domain, email } = own
        const people = peopleWith(own, all)
        yield* addPeople(people)
        const newcomers = mailed.map((to): Person => ({ email: email(`new-${to}`), from: to, to }))
        const { keptStatuses } = yield* contacts.addWithoutAnswer(payloads([...people, ...newcomers]), guarded)
        assert.deepStrictEqual(
          yield* now([...people, ...newcomers]),
          [...people, ...newcomers].map((person) => [
            person.email,
            isGuarded(person) ? person.from : person.to,
            "After"
          ])
        )
        assert.deepStrictEqual<unknown>(
          keptStatuses.map(({ index, status }) => [people[index]?.email, status]),
          people.filter(isGuarded).map(({ email, from }) => [email, from])
        )
        // Without a status nothing is asked, and nothing is kept.
        const silent = people.map(({ email }) => ({ email, lastName: domain }))
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer(silent, guarded), { keptStatuses: [] })
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer([], guarded), { keptStatuses: [] })
      })
    )

    it.effect("addWithoutAnswer says who kept their status, for contacts of any kind", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const people = peopleOf(own)
        yield* addPeople(people)
        for (const kind of [payloads(people), new Set(payloads(people))]) {
          const { keptStatuses } = yield* contacts.addWithoutAnswer(kind, guarded)
          assert.deepStrictEqual(
            keptStatuses,
            people.map(({ from }, index) => ({ index, status: from }))
          )
          assert.deepStrictEqual(yield* now(people), keeping(people))
        }
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer(payloads(people)), { keptStatuses: [] })
        assert.deepStrictEqual(yield* now(people), resubscribed(people))
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
        const people = peopleOf(place())
        yield* addPeople(people)
        const options = { ...guarded, idempotencyKey: crypto.randomUUID() }
        const first = yield* contacts.addWithoutAnswer(payloads(people), options)
        assert.strictEqual(first.keptStatuses.length, people.length)
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer(payloads(people), options), first)
        const other = contacts.add(payloads(people), { ...options, resubscribe: true })
        assert.strictEqual((yield* refused(other, "InvalidInput")).field, "idempotencyKey")
        assert.deepStrictEqual(yield* now(people), keeping(people))
      })
    )

    it.effect("an import resubscribes only whom it is told to", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const own = place()
        const people = peopleOf(own)
        yield* addPeople(people)
        /** Imports, and waits for the row that is new in this file. */
        const importAll = Effect.fnUntraced(function* (last: string, options?: ImportOptions) {
          const marker: Person = { email: own.email(last), from: "Active", to: "Active" }
          yield* contacts.import(file(utf8(csv([...people, marker]))), options)
          const lookFor = own.where(`email = '${marker.email}'`)
          yield* eventually(contacts.list({ rule: lookFor }), (found) => found.length === 1)
        })
        yield* importAll("one")
        assert.deepStrictEqual(yield* now(people), keeping(people))
        yield* importAll("two", guarded)
        assert.deepStrictEqual(yield* now(people), keeping(people))
        yield* importAll("three", { resubscribe: true })
        assert.deepStrictEqual(yield* now(people), resubscribed(people))
      })
    )

    it.effect("addRows, importContacts and addAll resubscribe only whom they are told to, and say who stayed", () =>
      Effect.gen(function* () {
        const people = peopleOf(place())
        yield* addPeople(people)
        // The first row is on the second line.
        const lines = people.map(({ from }, index) => ({ line: index + 2, status: from }))
        const added = yield* addRows(rowsOf(people))
        assert.deepInclude(added, { done: people.length, statusesKept: people.length, keptStatuses: lines })
        assert.deepStrictEqual(yield* now(people), keeping(people))
        const upload = (options: ImportContactsOptions = {}) =>
          Effect.map(
            Effect.provide(importContacts(rowsOf(people), { ...options, record: false }), RunLog.layerMemory()),
            ({ done, keptStatuses, statusesKept }) => ({ done, keptStatuses, statusesKept })
          )
        assert.deepInclude(yield* upload(), {
          done: people.length,
          statusesKept: people.length,
          keptStatuses: lines
        })
        const outcomes = yield* Stream.runCollect(addAll(Stream.fromIterable(payloads(people))))
        assert.deepStrictEqual(
          outcomes.map((outcome) => outcome._tag === "Accepted" && outcome.keptStatus),
          people.map(({ from }) => from)
        )
        assert.deepStrictEqual(yield* now(people), keeping(people))
        for (const add of [addRows(rowsOf(people), { resubscribe: true }), upload({ resubscribe: true })]) {
          assert.deepInclude(yield* add, { done: people.length, statusesKept: 0, keptStatuses: [] })
          assert.deepStrictEqual(yield* now(people), resubscribed(people))
          yield* addPeople(people)
        }
        yield* Stream.runDrain(addAll(Stream.fromIterable(payloads(people)), { resubscribe: true }))
        assert.deepStrictEqual(yield* now(people), resubscribed(people))
      })
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
