/** What is done to lists, without a browser: made, renamed, deleted, contacts put on them and taken off, and all of that undone. */
import { assert, describe, it } from "@effect/vitest"
import { ListsService } from "@roster/domain"
import { Effect } from "effect"
import { placeContact } from "../../src/contacts/ContactEdit.ts"
import { isSaid, listQuestion, type Wanted } from "../../src/contacts/ContactSelection.ts"
import * as ListAtoms from "../../src/lists/ListAtoms.ts"
import * as ContactPlan from "../../src/plans/ContactPlan.ts"
import { undoOf } from "../../src/session/Undo.tsx"
import { studioStore } from "../StudioStore.ts"
import { takenCommand } from "../TakenCommand.ts"

const hostile = `News'"; <b>`

const filled = Effect.gen(function* () {
  const store = yield* studioStore
  const contacts = yield* store.contacts
  yield* contacts.add(["a", "b", "c"].map((name) => ({ email: `${name}@example.com` })))
  const listsOf = Effect.map(contacts.list({ lists: true }), (all) => all.map(({ lists = [] }) => lists))
  const counts = Effect.map(store.ask(ListsService.use((lists) => lists.list({ counts: true }))), (all) =>
    all.map(({ contacts, listName }) => [listName, contacts])
  )
  return { ...store, contacts, counts, listsOf }
})

const change = (emails: ReadonlyArray<string>, name: string, isOn: boolean) =>
  ({
    _tag: "Change",
    meant: { _tag: "Chosen", emails: new Set(emails) },
    to: { field: "list", name, isOn, isMeant: false }
  }) satisfies Wanted

describe("the lists on the page", () => {
  it.effect("take the chosen as a plan, let them go again, and each of that is undone", () =>
    Effect.gen(function* () {
      const { listsOf, run } = yield* filled
      const put = yield* run(ContactPlan.plan, change(["a@example.com", "b@example.com"], ` ${hostile} `, true))
      assert.deepStrictEqual([put.count, put.plan.summary.alreadySo], [2, 0])
      const done = yield* run(ContactPlan.apply, put)
      assert.include(done, { changed: 2 })
      assert.deepStrictEqual(yield* listsOf, [[hostile], [hostile], []])
      const again = yield* run(ContactPlan.plan, change(["a@example.com", "c@example.com"], hostile, true))
      assert.deepStrictEqual([again.count, again.plan.summary.alreadySo], [1, 1])
      const off = yield* run(ContactPlan.plan, change(["a@example.com", "c@example.com"], hostile.toUpperCase(), false))
      assert.strictEqual(off.count, 1)
      const taken = yield* run(ContactPlan.apply, off)
      assert.deepStrictEqual(yield* listsOf, [[], [hostile], []])
      yield* run(undoOf(taken.run ?? ""), undefined)
      assert.deepStrictEqual(yield* listsOf, [[hostile], [hostile], []])
      yield* run(undoOf(done.run ?? ""), undefined)
      assert.deepStrictEqual(yield* listsOf, [[], [], []])
    })
  )

  it.effect("are made, renamed, and deleted with their contacts kept, who are on it again by the undo", () =>
    Effect.gen(function* () {
      const { contacts, counts, listsOf, registry, result, run } = yield* filled
      yield* run(ListAtoms.create, " News ")
      assert.strictEqual((yield* Effect.flip(run(ListAtoms.create, "news")))._tag, "NameTaken")
      yield* run(placeContact, { email: "a@example.com", name: "News", isOn: true })
      yield* run(ListAtoms.rename, { from: "News", to: hostile })
      assert.deepStrictEqual(yield* counts, [[hostile, 1]])
      const [list] = yield* result(ListAtoms.lists)
      assert.strictEqual(list && (yield* contacts.count({ rule: ListAtoms.ruleOf(list) })).count, 1)
      const applied = yield* run(ContactPlan.apply, { _tag: "DeleteList", name: hostile, contacts: 1 })
      assert.strictEqual(applied.done, 1)
      assert.strictEqual(registry.get(ContactPlan.result), applied)
      assert.deepStrictEqual([yield* counts, (yield* contacts.count()).count], [[], 3])
      yield* run(undoOf(applied.run ?? ""), undefined)
      assert.deepStrictEqual(yield* listsOf, [[hostile], [], []])
      yield* run(ListAtoms.create, "Empty")
      const empty = yield* run(ContactPlan.apply, { _tag: "DeleteList", name: "Empty", contacts: 0 })
      assert.isUndefined(empty.run)
      assert.deepStrictEqual(yield* counts, [[hostile, 1]])
    })
  )

  it.effect("of a contact are changed as a run that is undone", () =>
    Effect.gen(function* () {
      const { listsOf, run } = yield* filled
      yield* run(placeContact, { email: "a@example.com", name: " News ", isOn: true })
      const { run: id } = yield* run(placeContact, { email: "a@example.com", name: "News", isOn: false })
      assert.deepStrictEqual(yield* listsOf, [[], [], []])
      yield* run(undoOf(id), undefined)
      assert.deepStrictEqual(yield* listsOf, [["News"], [], []])
    })
  )

  it("are asked about where a name is nearly that of another, and the command is the one that does the same", () => {
    const known = ["Newsletter", "Kunden 2025"]
    const asked = (name: string, isOn = true, isMeant = false) => listQuestion({ name, isMeant }, isOn, known)
    assert.deepStrictEqual(asked("Newslettr"), { _tag: "Near", near: "Newsletter" })
    assert.deepStrictEqual(
      [
        asked(" "),
        asked("newsletter "),
        asked("Newslettr", true, true),
        asked("Kunden 2026"),
        asked("Newslettr", false),
        listQuestion({ name: "Any", isMeant: false }, false, [])
      ].map((question) => [question._tag, isSaid(question)]),
      [
        ["Unnamed", false],
        ["Known", true],
        ["New", true],
        ["New", true],
        ["Unknown", false],
        ["Known", true]
      ]
    )
    const commandOf = (name: string, isOn: boolean, isMeant = false) => {
      const wanted = change(["a@example.com"], name, isOn)
      const command = ContactPlan.commandOf({ ...wanted, to: { ...wanted.to, isMeant } }, known)
      return takenCommand(command)
    }
    assert.deepStrictEqual(
      [commandOf("Newsletter", true), commandOf("Newslettr", true, true), commandOf("Newsletter", false)],
      [
        "roster lists add Newsletter a@example.com",
        "roster lists add Newslettr a@example.com --create-list --new-field",
        "roster lists remove Newsletter a@example.com"
      ]
    )
    assert.deepStrictEqual(
      [
        ListAtoms.createCommand(" Newslettr", true),
        ListAtoms.renameCommand({ from: "Newsletter", to: "Kunden 2026 " }),
        ContactPlan.commandOf({ _tag: "DeleteList", name: "Newsletter", contacts: 1 })
      ].map(takenCommand),
      [
        "roster lists create Newslettr --new-field",
        "roster lists rename Newsletter 'Kunden 2026'",
        "roster lists delete Newsletter"
      ]
    )
  })
})
