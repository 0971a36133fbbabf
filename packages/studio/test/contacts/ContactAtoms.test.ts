/** What the contacts view does, without a browser: pages, rules, edits and deletions on a store in memory. */
import { assert, describe, it } from "@effect/vitest"
import { type Contact, ContactsService, ContactStatus, EmailAddress } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { reportWords } from "@roster/workflows"
import { Arbitrary, Effect, Layer, Schema } from "effect"
import * as ContactAtoms from "../../src/contacts/ContactAtoms.ts"
import { columnsOf, listsColumn } from "../../src/contacts/ContactColumn.ts"
import * as HistoryAtoms from "../../src/contacts/HistoryAtoms.ts"
import { lastFirst, pageSize } from "../../src/kit/Pager.tsx"
import * as AppliedRule from "../../src/rules/AppliedRule.ts"
import * as ContactPlan from "../../src/plans/ContactPlan.ts"
import type { Wanted } from "../../src/contacts/ContactSelection.ts"
import {
  changeCommand,
  changesOf,
  type Edited,
  editedOf,
  mergedWith,
  settled,
  updateContact,
  updateCommand
} from "../../src/contacts/ContactEdit.ts"
import { undoOf } from "../../src/session/Undo.tsx"
import { studioOn, studioStore } from "../StudioStore.ts"
import { takenCommand } from "../TakenCommand.ts"

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    email: `c${index}@example.com`,
    firstName: `N${index}`,
    customFields: { Stadt: index % 2 === 0 ? "Köln" : "Paris" }
  }))

const filled = Effect.fnUntraced(function* (count: number) {
  const store = yield* studioStore
  const contacts = yield* store.contacts
  yield* contacts.add(people(count))
  return { ...store, contacts }
})

/** A store whose changes are as those of a service that does not compare in one step, and shows no lists. */
const comparingNothing = Layer.effect(
  ContactsService,
  Effect.map(ContactsService, (service) =>
    ContactsService.of({
      ...service,
      change: (changes, options) =>
        options?.dryRun === true
          ? Effect.map(service.change(changes, options), (answers) =>
              answers.map((answer) => {
                const { lists: _, ...rest } = { lists: undefined, ...answer }
                return { ...rest, exact: false }
              })
            )
          : Effect.die("it changes nothing in one step")
    })
  )
)

describe("the lists of contacts", () => {
  it.effect("stand in their column once it is shown, and in the contact that is open", () =>
    Effect.gen(function* () {
      const { contacts, mount, registry, result, until } = yield* filled(2)
      yield* contacts.add([{ email: EmailAddress.make("c0@example.com") }], { listNames: ["News", "A"] })
      yield* mount(ContactAtoms.page)
      const [first] = (yield* result(ContactAtoms.page)).contacts
      assert.isUndefined(first?.lists)
      registry.set(ContactAtoms.columns, [listsColumn])
      const shown = yield* until(ContactAtoms.page, (read) =>
        read._tag === "Success" && !read.waiting && read.value.contacts[0]?.lists !== undefined
          ? read.value.contacts.map((contact) => columnsOf([listsColumn]).map(({ read }) => read(contact)))
          : undefined
      )
      assert.deepStrictEqual(shown, [["A; News"], [""]])
      assert.deepStrictEqual((yield* result(ContactAtoms.contact("c0@example.com"))).lists, ["A", "News"])
    })
  )
})

const word = Schema.Literals(["x", "y", "z"])
const forms = Arbitrary.schema(
  Schema.Struct({
    status: Schema.Literals(["Active", "Inactive", "Unsubscribed"]),
    firstName: word,
    lastName: word,
    custom: Schema.Struct({ a: Schema.Literals(["", "x", "y"]), b: Schema.Literals(["", "x", "y"]) })
  })
).pipe(
  Arbitrary.map(({ custom, ...form }) => ({
    ...form,
    custom: Object.entries(custom).map(([name, value]) => ({ name, value }))
  }))
)

/** The contact that such a form shows. */
const contactOf = ({ custom, firstName, lastName, status }: Edited): Contact => ({
  email: "c0@example.com",
  status: Schema.is(ContactStatus)(status) ? status : "Active",
  firstName,
  lastName,
  customFields: Object.fromEntries(custom.flatMap(({ name, value }) => (value === "" ? [] : [[name, value]])))
})

const whole = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_000_000 })))

describe("the contacts view", () => {
  it.effect(
    "reads the page that one looks at, from the first again by another rule, and the last once there are fewer",
    () =>
      Effect.gen(function* () {
        const { contacts, mount, registry, result, until } = yield* filled(260)
        for (const atom of [ContactAtoms.first, ContactAtoms.page, ContactAtoms.chosen]) yield* mount(atom)
        /** The first and the number of the contacts that are shown, once they are those of a place. */
        const shownAt = (place: number) =>
          until(ContactAtoms.page, (read) =>
            read._tag === "Success" && !read.waiting && read.value.first === place
              ? [read.value.contacts[0]?.email, read.value.contacts.length]
              : undefined
          )
        assert.deepStrictEqual(yield* result(ContactAtoms.count), { count: 260 })
        assert.deepStrictEqual(yield* shownAt(0), ["c0@example.com", 50])
        registry.set(ContactAtoms.first, lastFirst(260, registry.get(pageSize)))
        assert.deepStrictEqual(yield* shownAt(250), ["c250@example.com", 10])
        registry.set(ContactAtoms.chosen, new Set(["c1@example.com"]))
        registry.set(AppliedRule.rule, "stadt = 'Köln'")
        assert.deepStrictEqual([registry.get(ContactAtoms.chosen).size, registry.get(ContactAtoms.first)], [0, 0])
        yield* until(ContactAtoms.total, (total) => (total === 130 ? true : undefined))
        registry.set(ContactAtoms.first, 100)
        assert.deepStrictEqual(yield* shownAt(100), ["c200@example.com", 30])
        yield* Effect.forEach(Array.from({ length: 40 }), (_, at) => contacts.delete(`c${at * 2}@example.com`))
        registry.refresh(ContactAtoms.count)
        assert.deepStrictEqual(yield* shownAt(50), ["c180@example.com", 40])
      })
  )

  it.prop(
    "end on a page that has the last row, at any number of rows",
    { total: whole, size: whole },
    ({ size, total }) => {
      const last = lastFirst(total, size)
      assert.deepStrictEqual([last % size, last < total, total - last <= size], [0, true, true])
    }
  )

  it.effect("sends only what was changed of a contact, as a run that is undone", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(1)
      const before = yield* contacts.get("c0@example.com")
      const edited = editedOf(before)
      assert.isUndefined(changesOf(before, edited))
      const changes = changesOf(before, {
        ...edited,
        lastName: "O'Hara",
        custom: [
          { name: "Stadt", value: "" },
          { name: "plan name", value: "gold", isNew: true },
          { name: " ", value: "left out", isNew: true }
        ]
      })
      assert.deepStrictEqual(changes, { lastName: "O'Hara", customFields: { Stadt: "", "plan name": "gold" } })
      if (changes === undefined) return
      assert.strictEqual(
        takenCommand(updateCommand({ given: ["c0@example.com"] }, changes)),
        `roster contacts update c0@example.com --last-name "O'Hara" --field Stadt= --field 'plan name=gold'`
      )
      const { run: id } = yield* run(updateContact, { email: "c0@example.com", changes })
      const { customFields, lastName } = yield* contacts.get("c0@example.com")
      assert.deepStrictEqual([lastName, customFields], ["O'Hara", { "plan name": "gold" }])
      assert.include(yield* run(undoOf(id), undefined), { changed: 1 })
      assert.deepStrictEqual(editedOf(yield* contacts.get("c0@example.com")), edited)
    })
  )

  it.effect("asks before it lowers the status of somebody who left, and the answer can be taken back", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(1)
      const email = "c0@example.com"
      const statusOf = Effect.map(contacts.get(email), ({ status }) => status)
      yield* run(updateContact, { email, changes: { status: "Unsubscribed" } })
      const changes = changesOf(yield* contacts.get(email), {
        ...editedOf(yield* contacts.get(email)),
        status: "Active"
      })
      assert.deepStrictEqual(changes, { status: "Active" })
      if (changes === undefined) return
      assert.strictEqual(takenCommand(changeCommand(email, changes)), `roster contacts add ${email} --status Active`)
      const asked = yield* Effect.flip(run(updateContact, { email, changes }))
      assert.deepInclude(asked, { _tag: "WouldResubscribe", email, status: "Unsubscribed" })
      assert.strictEqual(yield* statusOf, "Unsubscribed")
      const { run: id } = yield* run(updateContact, { email, changes, resubscribe: ["Unsubscribed"] })
      assert.strictEqual(yield* statusOf, "Active")
      assert.include(yield* run(undoOf(id), undefined), { changed: 1 })
      assert.strictEqual(yield* statusOf, "Unsubscribed")
    })
  )

  it.effect("shows both where others changed what is saved, and saves what the person chose", () =>
    Effect.gen(function* () {
      const { contacts, mount, result, run } = yield* filled(1)
      const email = EmailAddress.make("c0@example.com")
      yield* mount(ContactAtoms.contact(email))
      const seen = yield* result(ContactAtoms.contact(email))
      const edited = { ...editedOf(seen), firstName: "Mine", custom: [{ name: "Stadt", value: "Bonn" }] }
      yield* contacts.add([
        { email, firstName: "Theirs", lastName: "New", customFields: { stadt: "Rom", Plan: "gold" } }
      ])
      const refused = yield* Effect.flip(run(updateContact, { email, changes: changesOf(seen, edited) ?? {}, seen }))
      assert.deepInclude(refused, { _tag: "ContactChanged", fields: ["firstName", "Stadt"] })
      const now = yield* result(ContactAtoms.contact(email))
      const draft = { email, seen, edited }
      assert.deepStrictEqual(mergedWith(draft, now).conflicts, [
        { field: "firstName", title: "First name", mine: "Mine", now: "Theirs" },
        { field: ":stadt", title: "Stadt", mine: "Bonn", now: "Rom" }
      ])
      const chosen = settled(draft, now, (field) => field === "firstName")
      assert.deepStrictEqual(mergedWith(chosen, now), { edited: chosen.edited, conflicts: [] })
      const changes = changesOf(now, chosen.edited)
      assert.deepStrictEqual(changes, { firstName: "Mine" })
      if (changes === undefined) return
      yield* run(updateContact, { email, changes, seen: now })
      assert.deepInclude(yield* contacts.get(email), {
        firstName: "Mine",
        lastName: "New",
        customFields: { Stadt: "Rom", Plan: "gold" }
      })
    })
  )

  it.prop(
    "saves of what two people wrote each field that one of them left, and asks for all others",
    [forms, forms, forms],
    ([before, mine, theirs]) => {
      const [seen, now] = [contactOf(before), contactOf(theirs)]
      const { conflicts, edited } = mergedWith({ seen, edited: mine }, now)
      const texts = ({ custom, firstName, lastName, status }: Edited) => ({
        status,
        firstName,
        lastName,
        ...Object.fromEntries(custom.filter(({ value }) => value !== "").map(({ name, value }) => [`:${name}`, value]))
      })
      const of = (form: Edited, field: string) => new Map(Object.entries(texts(form))).get(field) ?? ""
      for (const field of ["status", "firstName", "lastName", ":a", ":b"]) {
        const [was, written, is] = [of(before, field), of(mine, field), of(theirs, field)]
        const isBoth = written !== was && is !== was && written !== is
        assert.strictEqual(of(edited, field), written === was ? is : written, field)
        assert.deepStrictEqual(
          conflicts.flatMap((conflict) => (conflict.field === field ? [[conflict.mine, conflict.now]] : [])),
          isBoth ? [[written, is]] : []
        )
      }
    }
  )

  it.effect("shows what was done to a contact, page by page", () =>
    Effect.gen(function* () {
      const { contacts, mount, registry, result } = yield* filled(1)
      const email = EmailAddress.make("c0@example.com")
      for (let n = 0; n < 30; n++) {
        yield* contacts.add([{ email, status: n % 2 === 0 ? "Unsubscribed" : "Active" }])
      }
      registry.set(pageSize, 25)
      yield* mount(HistoryAtoms.historyPages(email))
      yield* mount(HistoryAtoms.history(email))
      const first = yield* result(HistoryAtoms.history(email))
      assert.deepInclude(first, { exists: true, hasMore: true })
      assert.strictEqual(first.entries.length, 25)
      registry.set(HistoryAtoms.historyPages(email), 2)
      const all = yield* result(HistoryAtoms.history(email))
      assert.strictEqual(all.hasMore, false)
      assert.deepStrictEqual([all.entries.length, all.entries.at(-1)?.effect], [31, "Created"])
    })
  )

  it.effect("gives a status and asks alike at a service that compares nothing", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* studioOn(Layer.provideMerge(comparingNothing, layerMemory()))
      const email = EmailAddress.make("ada@example.com")
      const stored = yield* contacts
      yield* stored.add([{ email, status: "Unsubscribed", firstName: "Ada" }])
      const changes = { status: "Active", firstName: "Eve" } as const
      assert.strictEqual((yield* Effect.flip(run(updateContact, { email, changes })))._tag, "WouldResubscribe")
      assert.deepInclude(yield* stored.get(email), { status: "Unsubscribed", firstName: "Ada" })
      const { run: id } = yield* run(updateContact, { email, changes, resubscribe: ["Unsubscribed"] })
      assert.deepInclude(yield* stored.get(email), changes)
      assert.notStrictEqual(id, "")
      const gone = yield* Effect.flip(run(updateContact, { email: "bob@example.com", changes }))
      assert.strictEqual(gone._tag, "ContactNotFound")
      assert.deepStrictEqual(yield* stored.count(), { count: 1 })
    })
  )

  it.effect("adds a contact that can be taken back, and overwrites none", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(1)
      const stored = yield* contacts.get("c0@example.com")
      const wanted = (email: string) =>
        ({ _tag: "Add", contact: { email, firstName: "Eve", lastName: "" } }) satisfies Wanted
      const refused = yield* Effect.flip(run(ContactPlan.add, wanted("C0@example.com")))
      assert.include(refused.message, "is stored already")
      assert.deepStrictEqual(yield* contacts.get("c0@example.com"), stored)
      const { run: id = "" } = yield* run(ContactPlan.add, wanted(" eve@example.com "))
      assert.include(yield* contacts.get("eve@example.com"), { firstName: "Eve", status: "Active" })
      yield* run(undoOf(id), undefined)
      assert.strictEqual((yield* contacts.count()).count, 1)
      assert.include((yield* Effect.flip(run(ContactPlan.add, wanted("nobody")))).message, "Email")
    })
  )

  it.effect("sets a field of those that it showed, leaves alone whom others changed since, and takes it back", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(7)
      const paris = { field: "custom", name: "Stadt ", value: "Paris" } as const
      const all = { _tag: "Change", meant: { _tag: "ByRule", rule: "All" }, to: paris } as const
      const planned = yield* run(ContactPlan.plan, all)
      assert.deepInclude(planned, { count: 4, isSevere: true })
      assert.include(planned.plan.summary, { changed: 4, alreadySo: 3 })
      yield* contacts.update("c0@example.com", { customFields: { Stadt: "Rom" } })
      const report = yield* run(ContactPlan.apply, planned)
      assert.include(report, { changed: 3, outdated: 1 })
      assert.deepStrictEqual(reportWords(report), [
        "Done: 3 contacts changed.",
        "1 contact changed or deleted by others since: what they did stays."
      ])
      assert.strictEqual((yield* contacts.count({ rule: "stadt = 'Paris'" })).count, 6)
      assert.include(yield* run(undoOf(report.run ?? ""), undefined), { changed: 3 })
      assert.strictEqual((yield* contacts.count({ rule: "stadt = 'Köln'" })).count, 3)
      const meant = { _tag: "Chosen", emails: new Set(["c0@example.com"]) } as const
      const one = { _tag: "Change", meant, to: { field: "firstName", value: "" } } as const
      const named = yield* run(ContactPlan.plan, one)
      assert.isFalse(named.isSevere)
      yield* run(ContactPlan.apply, named)
      assert.isUndefined((yield* contacts.get("c0@example.com")).firstName)
      assert.deepStrictEqual(
        [all, one, { _tag: "Delete", meant } as const].map((wanted) => takenCommand(ContactPlan.commandOf(wanted))),
        [
          "roster contacts update --rule All --field Stadt=Paris",
          "roster contacts update c0@example.com --first-name ''",
          "roster contacts delete c0@example.com"
        ]
      )
    })
  )

  it.effect("sends nobody mail again who left, unless they asked for it, and undoes the status of many", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(3)
      yield* contacts.add([{ email: "c0@example.com", status: "Unsubscribed" }])
      const meant = { _tag: "ByRule", rule: "All" } as const
      /** Plans a status of all of them and applies it; gives what was planned and the statuses then. */
      const given = Effect.fnUntraced(function* (value: ContactStatus, resubscribe: boolean) {
        const planned = yield* run(ContactPlan.plan, {
          _tag: "Change",
          meant,
          to: { field: "status", value, resubscribe }
        })
        const { run: id = "" } = yield* run(ContactPlan.apply, planned)
        return { id, planned, statuses: (yield* contacts.list()).map(({ status }) => status) }
      })
      const kept = yield* given("Active", false)
      assert.deepInclude(kept.planned.plan.summary, { changed: 0, statusesKept: 1 })
      assert.deepStrictEqual(kept.statuses, ["Unsubscribed", "Active", "Active"])
      const asked = yield* given("Active", true)
      assert.deepStrictEqual(asked.statuses, ["Active", "Active", "Active"])
      yield* run(undoOf(asked.id), undefined)
      assert.strictEqual((yield* contacts.get("c0@example.com")).status, "Unsubscribed")
      const left = yield* given("Unsubscribed", false)
      assert.deepStrictEqual(left.statuses, ["Unsubscribed", "Unsubscribed", "Unsubscribed"])
      yield* run(undoOf(left.id), undefined)
      assert.strictEqual((yield* contacts.get("c1@example.com")).status, "Active")
    })
  )

  it.effect("deletes whom it showed, as they were, and nobody who came to match since", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(12)
      const rule = "stadt = 'Köln'"
      const planned = yield* run(ContactPlan.plan, { _tag: "Delete", meant: { _tag: "ByRule", rule } })
      assert.deepInclude(planned, { count: 6, isSevere: false })
      assert.deepStrictEqual(planned.plan.summary.statuses, { Active: 6 })
      yield* contacts.update("c1@example.com", { customFields: { Stadt: "Köln" } })
      yield* contacts.update("c0@example.com", { firstName: "Theirs" })
      const report = yield* run(ContactPlan.apply, planned)
      assert.include(report, { deleted: 5, outdated: 1 })
      assert.deepStrictEqual((yield* contacts.list({ rule })).map(({ email }) => email).toSorted(), [
        "c0@example.com",
        "c1@example.com"
      ])
      assert.include(yield* run(undoOf(report.run ?? ""), undefined), { new: 5 })
      assert.strictEqual((yield* contacts.count({ rule })).count, 7)
    })
  )

  it.effect("asks for the number where more than half would go, and finds those of the chosen that are there", () =>
    Effect.gen(function* () {
      const { run } = yield* filled(4)
      const byRule = { _tag: "ByRule", rule: "email contains 'example'" } as const
      assert.isTrue((yield* run(ContactPlan.plan, { _tag: "Delete", meant: byRule })).isSevere)
      const emails = new Set(["c0@example.com", "nobody@example.com"])
      const chosen = yield* run(ContactPlan.plan, { _tag: "Delete", meant: { _tag: "Chosen", emails } })
      assert.deepInclude(chosen, { count: 1, isSevere: false })
    })
  )
})
