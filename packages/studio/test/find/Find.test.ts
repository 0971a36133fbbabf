/** How contacts are found without a browser: by words, by an address, by clicks, and by addresses that a person pastes. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, Rule } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect, Layer } from "effect"
import * as ContactAtoms from "../../src/contacts/ContactAtoms.ts"
import { lookUp } from "../../src/find/AddressLookup.ts"
import { addressFile, corrected, lookUpAll, maximumPasted } from "../../src/find/PastedAddresses.ts"
import * as ContactPlan from "../../src/plans/ContactPlan.ts"
import * as AppliedRule from "../../src/rules/AppliedRule.ts"
import * as RuleDraft from "../../src/rules/RuleDraft.ts"
import { undoOf } from "../../src/session/Undo.tsx"
import { studioOn } from "../StudioStore.ts"
import { takenCommand } from "../TakenCommand.ts"

const filled = Effect.fnUntraced(function* (layer = Layer.fresh(layerMemory())) {
  const store = yield* studioOn(layer)
  const contacts = yield* store.contacts
  yield* contacts.add([
    { email: "ann@example.com", firstName: "Anna", lastName: "Meyer", customFields: { Stadt: "Köln" } },
    { email: "meyer@example.com", firstName: "Bob", lastName: "O'Hara", customFields: { Stadt: "Paris" } },
    { email: "c@example.com", firstName: "MEYERANNA", status: "Stale" }
  ])
  for (const atom of [RuleDraft.draftProblem, RuleDraft.show, ContactAtoms.page, ContactAtoms.chosen]) {
    yield* store.mount(atom)
  }
  /** Writes a text, shows its contacts, and gives their addresses. */
  const find = Effect.fnUntraced(function* (text: string) {
    store.registry.set(AppliedRule.draft, text)
    yield* store.run(RuleDraft.show, undefined)
    return yield* shown
  })
  const shown = Effect.map(
    Effect.suspend(() => store.result(ContactAtoms.page)),
    ({ contacts }) => contacts.map(({ email }): string => email)
  )
  return { ...store, contacts, find, shown }
})

/** A service that cannot look up many at once, as those of others. */
const oneByOne = Layer.effect(
  ContactsService,
  Effect.map(ContactsService, (service) =>
    ContactsService.of({
      ...service,
      getMany: (emails, options) =>
        Effect.map(service.getMany(emails, options), ({ contacts }) => ({ contacts, isAtOnce: false }))
    })
  )
)

describe("the one box", () => {
  it.effect("finds whoever has all words in the address, the first or the last name", () =>
    Effect.gen(function* () {
      const { find, registry } = yield* filled()
      assert.deepStrictEqual(yield* find("anna meyer"), ["ann@example.com", "c@example.com"])
      assert.strictEqual(registry.get(AppliedRule.draft), "anna meyer")
      assert.include(registry.get(AppliedRule.rule), "lastname contains 'meyer'")
      assert.deepStrictEqual(yield* find("o'hara"), ["meyer@example.com"])
      assert.deepStrictEqual(yield* find("stadt = 'Köln'"), ["ann@example.com"])
      assert.strictEqual((yield* find("")).length, 3)
    })
  )

  it.effect("never takes a rule with a mistake for words", () =>
    Effect.gen(function* () {
      const { find, registry } = yield* filled()
      const problem = yield* Effect.flip(find("Status = Activ"))
      assert.include(problem, { _tag: "InvalidRule", position: 9, length: 5 })
      assert.strictEqual(registry.get(AppliedRule.rule), "")
    })
  )

  it.effect("opens the contact that has an address, however it is written, and says that nobody has another", () =>
    Effect.gen(function* () {
      const { mount, registry, run } = yield* filled()
      yield* mount(RuleDraft.search)
      registry.set(AppliedRule.draft, '"Meyer, Anna" <ANN@example.com>')
      const search = registry.get(RuleDraft.search)
      if (search._tag !== "Address") return assert.fail(search._tag)
      assert.deepStrictEqual(yield* run(lookUp, search.email), { email: "ANN@example.com", isFound: true })
      assert.strictEqual(registry.get(ContactAtoms.opened), "ann@example.com")
      // The box says what is shown, and not what was found beside it.
      assert.strictEqual(registry.get(AppliedRule.draft), "")
      assert.deepStrictEqual(yield* run(lookUp, "x@example.com"), { email: "x@example.com", isFound: false })
    })
  )

  it.effect("shows an address as a rule where nothing else is done with it", () =>
    Effect.gen(function* () {
      const { find, registry } = yield* filled()
      assert.deepStrictEqual(yield* find("Ann <ann@example.com>, c@example.com"), ["ann@example.com", "c@example.com"])
      assert.strictEqual(registry.get(AppliedRule.rule), "email = 'ann@example.com' OR email = 'c@example.com'")
    })
  )
})

describe("filters by clicks", () => {
  it.effect("write the rule that is shown, go on from what is written, and are removed one by one", () =>
    Effect.gen(function* () {
      const { find, mount, registry, shown, until } = yield* filled()
      yield* mount(RuleDraft.conditions)
      const ruleIs = (text: string) =>
        until(AppliedRule.rule, (rule) => (rule === text ? registry.get(AppliedRule.draft) : undefined))
      const status = (values: ReadonlyArray<string>) =>
        registry.set(RuleDraft.setFilter, { _tag: "Values", field: Rule.recordField("status"), values })
      yield* find("stadt = 'Köln' OR stadt = 'Paris'")
      status(["Active"])
      assert.strictEqual(
        yield* ruleIs("(stadt = 'Köln' OR stadt = 'Paris') AND status = Active"),
        "(stadt = 'Köln' OR stadt = 'Paris') AND status = Active"
      )
      status(["Active", "Stale"])
      yield* ruleIs("(stadt = 'Köln' OR stadt = 'Paris') AND (status = Active OR status = Stale)")
      // What is written and not shown yet is not lost.
      registry.set(AppliedRule.draft, "meyer")
      status(["Stale"])
      yield* until(AppliedRule.rule, (rule) => (rule.endsWith("AND status = Stale") ? true : undefined))
      assert.deepStrictEqual(yield* shown, ["c@example.com"])
      assert.strictEqual(registry.get(RuleDraft.conditions).length, 2)
      registry.set(RuleDraft.removeCondition, 0)
      yield* ruleIs("status = Stale")
      // A rule with a mistake is not what a click goes on from.
      registry.set(AppliedRule.draft, "status = Activ")
      registry.set(RuleDraft.setFilter, { _tag: "OnList", list: "it's", isOn: true })
      yield* ruleIs("status = Stale AND on-list 'it''s'")
      registry.set(RuleDraft.removeCondition, 1)
      registry.set(RuleDraft.removeCondition, 0)
      assert.strictEqual(yield* ruleIs(""), "")
    })
  )
})

const pasted = `"C, D" <c@example.com>; Ann@example.com\nx@example.com, ann@example.com\nbob@@example.com\nAnna`

describe("pasted addresses", () => {
  it.effect.each([
    ["at once", Layer.fresh(layerMemory())],
    ["one by one", Layer.provideMerge(oneByOne, Layer.fresh(layerMemory()))]
  ] as const)("are known, unknown, repeated or none, at a service that looks them up %s", ([, layer]) =>
    Effect.gen(function* () {
      const { registry, run, shown } = yield* filled(layer)
      const looked = yield* run(lookUpAll, pasted)
      assert.deepStrictEqual(looked, {
        addresses: ["c@example.com", "Ann@example.com", "x@example.com"],
        known: ["c@example.com", "ann@example.com"],
        unknown: ["x@example.com"],
        repeated: ["ann@example.com"],
        others: [
          { text: "bob@@example.com", meant: "bob@example.com" },
          { text: "Anna", meant: undefined }
        ]
      })
      assert.strictEqual(corrected(looked).split("\n")[3], "bob@example.com")
      registry.set(ContactAtoms.chosen, new Set(looked.known))
      registry.set(ContactAtoms.onlyChosen, true)
      assert.strictEqual(registry.get(ContactAtoms.shownTotal), 2)
      assert.deepStrictEqual(yield* shown, ["c@example.com", "ann@example.com"])
      registry.set(ContactAtoms.chosen, new Set())
      assert.strictEqual((yield* shown).length, 3)
    })
  )

  it.effect("are 2,000 at most, and their unknown ones are added by a plan that is undone", () =>
    Effect.gen(function* () {
      const { contacts, run } = yield* filled()
      const many = Array.from({ length: maximumPasted + 1 }, (_, at) => `n${at}@example.com`)
      assert.include((yield* Effect.flip(run(lookUpAll, many.join(" ")))).message, "2,001 addresses")
      const { unknown } = yield* run(lookUpAll, many.slice(1).join("; "))
      assert.strictEqual(unknown.length, maximumPasted)
      const wanted = { _tag: "AddMany", emails: unknown } as const
      const planned = yield* run(ContactPlan.plan, wanted)
      assert.deepInclude(planned, { count: maximumPasted, isSevere: true })
      const applied = yield* run(ContactPlan.apply, planned)
      assert.strictEqual(applied.new, maximumPasted)
      assert.strictEqual((yield* contacts.count()).count, maximumPasted + 3)
      assert.include(yield* run(undoOf(applied.run ?? ""), undefined), { deleted: maximumPasted })
      assert.strictEqual((yield* contacts.count()).count, 3)
      takenCommand(ContactPlan.commandOf(wanted))
      assert.strictEqual(addressFile(["a@x.de", "b@x.de"]), "Email\r\na@x.de\r\nb@x.de\r\n")
    })
  )
})
