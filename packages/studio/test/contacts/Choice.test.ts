/** Which contacts are chosen, against a plain set of all contacts, and the rule that selects exactly them. */
import { assert, describe, it } from "@effect/vitest"
import { parseRule, ruleMatcher } from "@roster/domain"
import { Arbitrary, DateTime, Effect, Result, Schema } from "effect"
import * as ContactAtoms from "../../src/contacts/ContactAtoms.ts"
import { ruleBut } from "../../src/contacts/ContactSelection.ts"
import * as AppliedRule from "../../src/rules/AppliedRule.ts"
import { studioStore } from "../StudioStore.ts"

const everybody = ["a'b@example.com", "b@example.com", "c@example.com", "d@example.com", "e@example.com"]

const noAddress: ReadonlySet<string> = new Set()

const some = Schema.Array(Schema.Literals(everybody))
const steps = Arbitrary.schema(
  Schema.Array(
    Schema.Union([
      Schema.Struct({ _tag: Schema.tag("Some"), some, isIn: Schema.Boolean }),
      Schema.Struct({ _tag: Schema.tag("All") }),
      Schema.Struct({ _tag: Schema.tag("None") })
    ])
  )
)

describe("the choice of contacts", () => {
  it.prop("is the set of contacts that its steps make, and so is the rule of all but some", { steps }, ({ steps }) => {
    let chosen = new Set<string>()
    let choice = ContactAtoms.noChoice
    for (const step of steps) {
      if (step._tag === "Some") {
        for (const email of step.some) {
          if (step.isIn) chosen.add(email)
          else chosen.delete(email)
        }
        choice = ContactAtoms.chosenToo(choice, step.some, step.isIn)
      } else {
        chosen = new Set(step._tag === "All" ? everybody : [])
        choice = { isAll: step._tag === "All", emails: new Set() }
      }
    }
    assert.deepStrictEqual(
      everybody.filter((email) => ContactAtoms.isChosen(choice, email)),
      everybody.filter((email) => chosen.has(email))
    )
    if (!choice.isAll) return
    const rule = Result.getOrThrow(parseRule(ruleBut("email contains 'example'", choice.emails)))
    const matches = ruleMatcher(rule, DateTime.makeUnsafe(0))
    const found = everybody.filter((email) => matches({ email }))
    assert.deepStrictEqual(
      found,
      everybody.filter((email) => chosen.has(email))
    )
  })

  it.effect("is of the contacts of the rule, and none any more once another rule is shown", () =>
    Effect.gen(function* () {
      const { contacts, mount, registry, result } = yield* studioStore
      const stored = yield* contacts
      yield* stored.add(everybody.map((email, at) => ({ email, firstName: at < 3 ? "A" : "B" })))
      for (const atom of [ContactAtoms.count, ContactAtoms.choice]) yield* mount(atom)
      registry.set(AppliedRule.rule, "firstname = 'A' OR firstname = 'C'")
      registry.set(ContactAtoms.choice, { isAll: true, emails: new Set(["b@example.com"]) })
      const meant = registry.get(ContactAtoms.meant)
      assert.strictEqual(meant._tag === "ByRule" && (yield* stored.count({ rule: meant.rule })).count, 2)
      yield* result(ContactAtoms.count)
      assert.strictEqual(registry.get(ContactAtoms.numberChosen), 2)
      registry.set(AppliedRule.rule, "firstname = 'B'")
      assert.deepStrictEqual(registry.get(ContactAtoms.meant), { _tag: "Chosen", emails: noAddress })
      assert.deepStrictEqual(
        ["", " All", "firstname = 'A'"].map((rule) => ruleBut(rule, noAddress)),
        ["All", "All", "firstname = 'A'"]
      )
    })
  )
})
