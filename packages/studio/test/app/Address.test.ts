/** The address of a view: it comes back as it was sent, and one of anybody shows what it can and says the rest. */
import { assert, describe, it } from "@effect/vitest"
import { contactOrders } from "@roster/domain"
import { Arbitrary, Effect, Schema } from "effect"
import { address, addresses, addressProblem, canonical, view } from "../../src/app/View.ts"
import * as ContactAtoms from "../../src/contacts/ContactAtoms.ts"
import { addressOf, readAddress } from "../../src/find/ContactsAddress.ts"
import { pageSize, sizes } from "../../src/kit/Pager.tsx"
import * as AppliedRule from "../../src/rules/AppliedRule.ts"
import { studioStore } from "../StudioStore.ts"

const text = Schema.String.check(Schema.isMaxLength(20))
const shown = Arbitrary.schema(
  Schema.Struct({
    rule: Schema.Union([
      Schema.Literal(""),
      Schema.Literals(["status = Active", "city = 'a & b = #?+%'", "Stadt = 'Köln''s' OR x != ''"])
    ]),
    columns: Schema.Array(text.check(Schema.makeFilter((name) => name.trim() !== "" && name.isWellFormed()))),
    sort: Schema.Literals([...contactOrders]),
    page: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 99_999 })),
    rows: Schema.Literals(sizes)
  })
).pipe(Arbitrary.map((given) => ({ ...given, columns: [...new Set(given.columns)] })))

describe("the address of the contacts", () => {
  it.prop("is read as what was shown", [shown], ([shown]) => {
    const [, query = ""] = addressOf(shown).split(/\?(.*)/s)
    assert.deepStrictEqual(readAddress(query), { shown, unknown: [] })
    assert.strictEqual(canonical(`#${addressOf(shown)}`), `#${addressOf(shown)}`)
  })

  it.prop("of anybody is read as something that can be shown", [Arbitrary.schema(Schema.String)], ([given]) => {
    for (const hash of [
      given,
      `#${given}`,
      `#contacts?${given}`,
      `#contacts?rule=${given}&page=${given}`,
      `#export?rule=${given}`
    ]) {
      const once = canonical(hash)
      assert.strictEqual(canonical(once), once, hash)
    }
  })

  it.effect("shows what it says, and the page writes the address of what it shows", () =>
    Effect.gen(function* () {
      const { mount, registry } = yield* studioStore
      for (const atom of [address, addressProblem]) yield* mount(atom)
      const open = (hash: string) => {
        registry.set(address, hash)
        return registry.get(addressProblem)
      }
      assert.strictEqual(registry.get(address), "#contacts")
      const sent = "#contacts?rule=city+%3D+%27K%C3%B6ln%27&column=city&sort=-added&page=3&rows=100"
      assert.isUndefined(open(sent))
      assert.deepStrictEqual(
        [registry.get(AppliedRule.rule), registry.get(AppliedRule.draft), registry.get(ContactAtoms.columns)],
        ["city = 'Köln'", "city = 'Köln'", ["city"]]
      )
      assert.deepStrictEqual(
        [registry.get(ContactAtoms.sort), registry.get(ContactAtoms.askedFirst), registry.get(pageSize)],
        ["-added", 200, 100]
      )
      assert.strictEqual(registry.get(address), sent)
      // Another rule begins at its first page.
      registry.set(AppliedRule.show, "All")
      assert.notInclude(registry.get(address), "page=")
      open("#export?rule=city+%3D+%27Rom%27&page=2")
      assert.include(registry.get(addressProblem), "“page”")
      assert.deepStrictEqual(
        [registry.get(view), registry.get(AppliedRule.rule), registry.get(address), registry.get(ContactAtoms.columns)],
        ["export", "city = 'Rom'", "#export?rule=city+%3D+%27Rom%27", ["city"]]
      )
      assert.strictEqual(
        registry.get(addresses)("contacts"),
        "#contacts?rule=city+%3D+%27Rom%27&column=city&sort=-added&rows=100"
      )
      assert.include(open("#export?rule=city+%3D"), "a mistake")
      assert.deepStrictEqual([registry.get(address), registry.get(AppliedRule.draft)], ["#export", "city ="])
      open("#import")
      assert.deepStrictEqual([registry.get(view), registry.get(address)], ["import", "#import"])
      open("#contacts")
      assert.strictEqual(registry.get(address), "#contacts")
    })
  )

  it.effect("says in a sentence what it does not know, and shows the rest", () =>
    Effect.gen(function* () {
      const { mount, registry } = yield* studioStore
      for (const atom of [address, addressProblem]) yield* mount(atom)
      const open = (hash: string) => {
        registry.set(address, hash)
        return registry.get(addressProblem) ?? ""
      }
      assert.include(open("#nowhere"), "no view of this page")
      assert.strictEqual(registry.get(view), "contacts")
      assert.include(open("#contacts?page=0&rows=7&sort=name&evil=<b>&rule=All"), "“page”, “rows”, “sort”")
      assert.strictEqual(registry.get(address), "#contacts")
      assert.include(open("#contacts?rule=status+%3D+Activ&page=3"), "a mistake")
      assert.deepStrictEqual([registry.get(AppliedRule.rule), registry.get(AppliedRule.draft)], ["", "status = Activ"])
      assert.include(open(`#contacts?rule=${"x".repeat(200_000)}`), "left out")
      assert.include(open(`#contacts?${"column=x&".repeat(101)}`), "“column”")
      assert.strictEqual(open("#contacts?rule=status+%3D+Active"), "")
    })
  )
})
