/** What the rule box does, without a browser: what is wrong with a rule, what may be written next, and rules with names. */
import { assert, describe, it, vi } from "@effect/vitest"
import { layerMemory } from "@roster/server"
import { AccountService, InvalidInput, Rejected, RuleName, RunNotFound, ServiceError } from "@roster/domain"
import * as PageClient from "@roster/workflows/PageClient"
import { servePage } from "@roster/workflows/PageServer"
import type { RunStorage } from "@roster/workflows/RunFiles"
import { Effect, Layer, Schema } from "effect"
import { FetchHttpClient, HttpEffect } from "effect/http"
import { Atom } from "effect/reactivity"
import * as ContactAtoms from "../../src/contacts/ContactAtoms.ts"
import { savedView } from "../../src/find/ContactsAddress.ts"
import * as AppliedRule from "../../src/rules/AppliedRule.ts"
import * as RuleDraft from "../../src/rules/RuleDraft.ts"
import * as RuleStorage from "../../src/rules/RuleStorage.ts"
import { studioOn } from "../StudioStore.ts"

/** The atoms of the rule box, whose saved rules are at a place. */
const opened = Effect.fnUntraced(function* (place?: Layer.Layer<RuleStorage.RuleStorage>) {
  const store = yield* studioOn(
    Layer.fresh(layerMemory()),
    place === undefined ? [] : [Atom.initialValue(RuleStorage.ruleStorage, place)]
  )
  const contacts = yield* store.contacts
  yield* contacts.add([
    { email: "ann@example.com", customFields: { Stadt: "Köln" } },
    { email: "bob@example.com", customFields: { Stadt: "Paris" } }
  ])
  for (const atom of [RuleDraft.draftProblem, RuleDraft.completions, RuleDraft.savedRules]) yield* store.mount(atom)
  /** Writes a rule, and shows its contacts. */
  const show = (text: string) => {
    store.registry.set(AppliedRule.draft, text)
    return store.run(RuleDraft.show, undefined)
  }
  const suggested = (text: string) => {
    store.registry.set(AppliedRule.draft, text)
    store.registry.set(RuleDraft.caret, text.length)
    return store.registry.get(RuleDraft.completions).suggestions.map((suggestion) => suggestion.text)
  }
  const save = (name: string, rule: string) => {
    store.registry.set(AppliedRule.draft, rule)
    return store.run(RuleDraft.saveRule, { name })
  }
  return { ...store, save, show, suggested }
})

const noRuns: RunStorage = {
  take: () => Effect.succeed(false),
  all: Effect.succeed([]),
  find: (run) => Effect.fail(new RunNotFound({ run })),
  write: () => Effect.never
}

/** A service that keeps no rules. */
const untold = Layer.mock(AccountService)({
  rules: Effect.fail(
    new ServiceError({ operation: "accountRulesGet", reason: new Rejected({ status: 404, detail: "it is not there" }) })
  )
})

describe("the rule box", () => {
  it.effect("marks what is wrong with a rule as it is written, a field that nobody has too", () =>
    Effect.gen(function* () {
      const { mount, registry, result } = yield* opened()
      yield* mount(RuleDraft.draftProblem)
      registry.set(AppliedRule.draft, "stadd = 'Köln'")
      yield* result(AppliedRule.fieldsInUse)
      assert.include(registry.get(RuleDraft.draftProblem), { position: 0, length: 5 })
      // The nearest name, and not all that there are.
      const message = registry.get(RuleDraft.draftProblem)?.message ?? ""
      assert.include(message, "Stadt")
      assert.notInclude(message, "lastname")
      // Meanwhile somebody may have the field.
      registry.refresh(AppliedRule.fieldsInUse)
      assert.isUndefined(registry.get(RuleDraft.draftProblem))
      yield* result(AppliedRule.fieldsInUse)
      assert.include(registry.get(RuleDraft.draftProblem), { position: 0, length: 5 })
      registry.set(AppliedRule.draft, "stadt = 'Köln'")
      assert.isUndefined(registry.get(RuleDraft.draftProblem))
    })
  )

  it.effect("shows the contacts of a rule that is saved, under its name, and completes the name", () =>
    Effect.gen(function* () {
      const { registry, result, save, show, suggested } = yield* opened()
      assert.strictEqual(yield* save("cologne", "Stadt = 'Köln'"), "cologne")
      assert.deepStrictEqual(yield* result(RuleDraft.savedRules), { cologne: "Stadt = 'Köln'" })
      yield* show(" @cologne ")
      assert.strictEqual(registry.get(AppliedRule.rule), "Stadt = 'Köln'")
      assert.deepStrictEqual(yield* result(ContactAtoms.count), { count: 1 })
      assert.deepStrictEqual(suggested("@c"), ["@cologne"])
      assert.deepStrictEqual(suggested("@x"), [])
      const unknown = yield* Effect.flip(show("@colonge"))
      assert.include(unknown, { _tag: "InvalidRule", position: 0, length: 8 })
      assert.include(unknown.message, 'did you mean "cologne"')
      assert.strictEqual(registry.get(AppliedRule.rule), "Stadt = 'Köln'")
      // A saved rule can be saved under another name.
      yield* save("koeln", "@cologne")
      assert.deepStrictEqual((yield* result(RuleDraft.savedRules))["koeln"], "Stadt = 'Köln'")
    })
  )

  it.effect("shows a saved rule with the columns and in the order that it was saved with", () =>
    Effect.gen(function* () {
      const { ask, mount, registry, run } = yield* opened()
      for (const atom of [savedView, ContactAtoms.columns, ContactAtoms.sort]) yield* mount(atom)
      registry.set(ContactAtoms.columns, ["Stadt", "a & b"])
      registry.set(ContactAtoms.sort, "-email")
      const account = yield* ask(AccountService)
      yield* account.saveRule("plain", "All")
      registry.set(AppliedRule.draft, "Stadt = 'Köln'")
      yield* run(RuleDraft.saveRule, { name: "cologne", view: registry.get(savedView) })
      const show = (name: string) => {
        registry.set(ContactAtoms.columns, ["Status"])
        registry.set(ContactAtoms.sort, "added")
        registry.set(AppliedRule.draft, name)
        return Effect.map(
          run(RuleDraft.show, (view) => registry.set(savedView, view)),
          () => [registry.get(ContactAtoms.columns), registry.get(ContactAtoms.sort)]
        )
      }
      assert.deepStrictEqual(yield* show("@cologne"), [["Stadt", "a & b"], "-email"])
      // One that was saved elsewhere leaves them as they are.
      assert.deepStrictEqual(yield* show("@plain"), [["Status"], "added"])
    })
  )

  it.effect("offers the fields that have a value for words that no name has, those with the value first", () =>
    Effect.gen(function* () {
      const { contacts, mount, registry, show } = yield* opened()
      yield* (yield* contacts).add([{ email: "eve@example.com", customFields: { Branche: "Handel" } }])
      const sought = RuleDraft.fieldsToSearch("köln")
      yield* mount(AppliedRule.fieldsInUse)
      yield* mount(sought)
      yield* show("köln")
      yield* Effect.promise(() => vi.waitUntil(() => registry.get(sought).length === 2))
      assert.deepStrictEqual(
        registry.get(sought).map(({ name, rule }) => [name, rule]),
        [
          ["Stadt", "Stadt = 'Köln'"],
          ["Branche", "Branche contains 'köln'"]
        ]
      )
    })
  )

  it.effect("puts the quotes that a rule lacks around a text, where it is a rule then", () =>
    Effect.gen(function* () {
      const { mount, registry } = yield* opened()
      yield* mount(RuleDraft.quotedDraft)
      const quoted = (text: string) => {
        registry.set(AppliedRule.draft, text)
        return registry.get(RuleDraft.quotedDraft)
      }
      assert.strictEqual(quoted("Stadt = Köln"), "Stadt = 'Köln'")
      assert.strictEqual(quoted("Stadt = Bad Homburg"), "Stadt = 'Bad Homburg'")
      assert.strictEqual(quoted("Stadt = Köln AND status = Active"), "Stadt = 'Köln' AND status = Active")
      assert.isUndefined(quoted("Stadt = 'Köln'"))
      assert.isUndefined(quoted("status ="))
    })
  )

  it("makes a name that @ takes of what a person calls a filter", () => {
    assert.strictEqual(RuleDraft.savedNameOf("Kunden in Köln"), "Kunden-in-Koeln")
    assert.strictEqual(RuleDraft.savedNameOf(" Mu\u0308ller & Söhne! "), "Mueller-Soehne")
    assert.strictEqual(RuleDraft.savedNameOf("vip"), "vip")
  })

  it.prop("makes names that rules may have, and keeps those", [Schema.String], ([given]) => {
    const name = RuleDraft.savedNameOf(given)
    assert.isTrue(name === "" || Schema.is(RuleName)(name), name)
    assert.strictEqual(RuleDraft.savedNameOf(name), name)
  })

  it.effect("replaces no filter of the same name before that is meant", () =>
    Effect.gen(function* () {
      const { result, run, save } = yield* opened()
      yield* save("VIP Köln", "status = Active")
      const taken = yield* Effect.flip(save("VIP-Koeln", "status = Stale"))
      assert.deepInclude(taken, { _tag: "RuleNameTaken", name: "VIP-Koeln", rule: "status = Active" })
      assert.deepStrictEqual(yield* result(RuleDraft.savedRules), { "VIP-Koeln": "status = Active" })
      yield* run(RuleDraft.saveRule, { name: "VIP-Koeln", replaces: true })
      assert.deepStrictEqual(yield* result(RuleDraft.savedRules), { "VIP-Koeln": "status = Stale" })
    })
  )

  it.effect("saves a rule alone where an earlier version of the service keeps no views", () =>
    Effect.gen(function* () {
      const saved: Array<ReadonlyArray<unknown>> = []
      const earlier = Layer.mock(AccountService)({
        rules: Effect.succeed([]),
        saveRule: (...given) =>
          given[2]?.view === undefined
            ? Effect.sync(() => void saved.push(given))
            : Effect.fail(new InvalidInput({ field: "view", issue: "unknown" }))
      })
      const { registry, run } = yield* opened(Layer.provide(RuleStorage.layerOfService(), earlier))
      registry.set(AppliedRule.draft, "status = Active")
      yield* run(RuleDraft.saveRule, { name: "vip", view: "sort=-added" })
      assert.deepStrictEqual(saved, [["vip", "status = Active"]])
    })
  )

  it.effect("saves no rule that is wrong or empty, and none under a name that the command line refuses", () =>
    Effect.gen(function* () {
      const { result, run, save } = yield* opened()
      assert.strictEqual((yield* Effect.flip(save("vip", "status = Activ")))._tag, "InvalidRule")
      assert.strictEqual((yield* Effect.flip(save("vip", "  ")))._tag, "InvalidInput")
      assert.include((yield* Effect.flip(save("ж?!", "status = Active"))).message, "letters, digits")
      yield* save("vip", "status = Active")
      yield* run(RuleDraft.removeRule, "vip")
      assert.deepStrictEqual(yield* result(RuleDraft.savedRules), {})
    })
  )

  it.effect("asks the process of the page where the service keeps no rules, and says why it gives none", () =>
    Effect.gen(function* () {
      const refused = () => Effect.fail("config.json is not a profiles file.")
      const calls = yield* servePage(noRuns, { rules: refused(), saveRule: refused, removeRule: refused })
      const answer = HttpEffect.toWebHandler(calls)
      const remote = RuleStorage.layerRemote.pipe(
        Layer.provide(PageClient.layerCalls("http://localhost/studio/calls")),
        Layer.provide(FetchHttpClient.layer),
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, (url, init) => answer(new Request(url, init))))
      )
      const { result } = yield* opened(Layer.provide(RuleStorage.layerOfService(remote), untold))
      const problem = yield* Effect.flip(result(RuleDraft.savedRules))
      assert.strictEqual(problem.message, "The saved rules are not available: config.json is not a profiles file.")
    })
  )
})
