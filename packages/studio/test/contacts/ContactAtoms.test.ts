/** What the contacts view does, without a browser: pages, rules, edits and deletions on a store in memory. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import * as ContactAtoms from "../../src/contacts/ContactAtoms.ts"
import { lastFirst, pageSize } from "../../src/kit/Pager.tsx"
import * as AppliedRule from "../../src/rules/AppliedRule.ts"
import { backupOf, deleteDoomed, lookDoomed } from "../../src/contacts/ContactDeletion.ts"
import { applyChange, planChange } from "../../src/contacts/ContactChanging.ts"
import {
  addContact,
  changesOf,
  editedOf,
  setStatus,
  updateContact,
  updateCommand
} from "../../src/contacts/ContactEdit.ts"
import { undo } from "../../src/session/RecordedWrite.ts"
import { studioStore } from "../StudioStore.ts"
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
        assert.strictEqual(yield* result(ContactAtoms.count), 260)
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
      const { contact, run: id } = yield* run(updateContact, { email: "c0@example.com", changes })
      assert.deepStrictEqual([contact?.lastName, contact?.customFields], ["O'Hara", { "plan name": "gold" }])
      assert.include(yield* run(undo, id), { changed: 1 })
      assert.deepStrictEqual(editedOf(yield* contacts.get("c0@example.com")), edited)
    })
  )

  it.effect("adds a contact that can be taken back, and overwrites none", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(1)
      const stored = yield* contacts.get("c0@example.com")
      const refused = yield* Effect.flip(run(addContact, { email: "C0@example.com", firstName: "Eve", lastName: "" }))
      assert.strictEqual(refused._tag, "AlreadyStored")
      assert.deepStrictEqual(yield* contacts.get("c0@example.com"), stored)
      const { run: id } = yield* run(addContact, { email: "eve@example.com", firstName: "Eve", lastName: "" })
      assert.include(yield* contacts.get("eve@example.com"), { firstName: "Eve", status: "Active" })
      yield* run(undo, id)
      assert.strictEqual(yield* contacts.count(), 1)
      assert.strictEqual(
        (yield* Effect.flip(run(addContact, { email: "nobody", firstName: "", lastName: "" })))._tag,
        "InvalidInput"
      )
    })
  )

  it.effect("sets a field of those that it showed, leaves alone whom others changed since, and takes it back", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(7)
      const field = { _tag: "Custom", name: "Stadt" } as const
      const meant = { _tag: "ByRule", rule: "All" } as const
      const { isSevere, plan } = yield* run(planChange, { meant, field, value: "Paris" })
      assert.isTrue(isSevere)
      assert.include(plan.summary, { changed: 4, unchanged: 3 })
      yield* contacts.update("c0@example.com", { customFields: { Stadt: "Rom" } })
      const report = yield* run(applyChange, plan)
      assert.include(report, { changed: 3, outdated: 1 })
      assert.strictEqual(yield* contacts.count({ rule: "stadt = 'Paris'" }), 6)
      if (report.run === undefined) return assert.fail("the change was not recorded")
      assert.include(yield* run(undo, report.run), { changed: 3 })
      assert.strictEqual(yield* contacts.count({ rule: "stadt = 'Köln'" }), 3)
      const emails = new Set(["c0@example.com"])
      const one = yield* run(planChange, { meant: { _tag: "Chosen", emails }, field: { _tag: "FirstName" }, value: "" })
      assert.isFalse(one.isSevere)
      yield* run(applyChange, one.plan)
      assert.isUndefined((yield* contacts.get("c0@example.com")).firstName)
    })
  )

  it.effect("sends nobody mail again who left, unless they asked for it, and undoes a status", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(1)
      const email = "c0@example.com"
      yield* run(setStatus, { email, status: "Unsubscribed", resubscribe: false })
      const refused = yield* Effect.flip(run(setStatus, { email, status: "Active", resubscribe: false }))
      assert.strictEqual(refused._tag, "WouldResubscribe")
      assert.strictEqual((yield* contacts.get(email)).status, "Unsubscribed")
      const { run: id } = yield* run(setStatus, { email, status: "Active", resubscribe: true })
      assert.strictEqual((yield* contacts.get(email)).status, "Active")
      yield* run(undo, id)
      assert.strictEqual((yield* contacts.get(email)).status, "Unsubscribed")
    })
  )

  it.effect("deletes whom it showed, and nobody who came to match since", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled(10)
      const rule = "stadt = 'Köln'"
      const doomed = yield* run(lookDoomed, { _tag: "ByRule", rule })
      assert.deepStrictEqual([doomed.contacts.length, doomed.isSevere, doomed.statuses], [5, false, [["Active", 5]]])
      yield* contacts.update("c1@example.com", { customFields: { Stadt: "Köln" } })
      yield* contacts.update("c0@example.com", { firstName: "Theirs" })
      const { run: id = "", ...report } = yield* run(deleteDoomed, doomed.contacts)
      assert.include(report, { deleted: 4, outdated: 1 })
      assert.deepStrictEqual((yield* contacts.list({ rule })).map(({ email }) => email).toSorted(), [
        "c0@example.com",
        "c1@example.com"
      ])
      assert.include(yield* run(undo, id), { new: 4 })
      assert.strictEqual(yield* contacts.count({ rule }), 6)
    })
  )

  it.effect("asks for the number where more than half would go, and backs up what import reads", () =>
    Effect.gen(function* () {
      const { run } = yield* filled(4)
      const doomed = yield* run(lookDoomed, { _tag: "ByRule", rule: "email contains 'example'" })
      assert.isTrue(doomed.isSevere)
      const backup = yield* backupOf(doomed.contacts)
      const text = yield* Effect.promise(() => backup.text())
      assert.deepStrictEqual(
        Array.from(JSON.parse(text), ({ Email }: { readonly Email: string }) => Email),
        doomed.contacts.map(({ email }) => email)
      )
      const chosen = new Set(["c0@example.com", "nobody@example.com"])
      assert.strictEqual((yield* run(lookDoomed, { _tag: "Chosen", emails: chosen })).contacts.length, 1)
    })
  )
})
