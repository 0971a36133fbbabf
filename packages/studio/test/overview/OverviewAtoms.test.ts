/** The numbers of the overview: each is that of the rule that it leads to. */
import { assert, describe, it } from "@effect/vitest"
import {
  AccountService,
  type AccountSummary,
  ContactStatus,
  EmailAddress,
  Rejected,
  RuleText,
  ServiceError
} from "@roster/domain"
import { layerMemory } from "@roster/server"
import { DateTime, Effect, Layer } from "effect"
import { readAddress } from "../../src/find/ContactsAddress.ts"
import * as OverviewAtoms from "../../src/overview/OverviewAtoms.ts"
import { studioOn, studioStore } from "../StudioStore.ts"

const hostile = `=news'"; <b>`

describe("the overview", () => {
  // Atoms have the clock of the machine, and the jobs of the store that of the test.
  it.live("tells numbers whose rules select as many", () =>
    Effect.gen(function* () {
      const { contacts, result } = yield* Effect.tap(studioStore, ({ contacts }) =>
        Effect.flatMap(contacts, (service) =>
          Effect.forEach(ContactStatus.literals, (status, at) =>
            service.add(
              Array.from({ length: at + 1 }, (_, i) => ({
                email: EmailAddress.make(`c${at}-${i}@example.com`),
                status
              })),
              { listNames: at % 2 === 0 ? [hostile] : ["News"] }
            )
          )
        )
      )
      const service = yield* contacts
      const summary = (yield* result(OverviewAtoms.summary)) ?? assert.fail("there are no numbers")
      const figures = [
        ...OverviewAtoms.figuresOf(summary),
        ...OverviewAtoms.statusesOf(summary),
        ...OverviewAtoms.monthsOf(summary),
        ...OverviewAtoms.listsOf(summary)
      ]
      assert.strictEqual(figures.length, 3 + 9 + 1 + 2)
      for (const { contacts, name, rule } of figures) {
        const { shown } = readAddress(OverviewAtoms.peopleAt(rule).replace(/^#contacts\??/, ""))
        const of = shown.rule === "" ? {} : { rule: RuleText.make(shown.rule) }
        assert.deepStrictEqual([name, (yield* service.count(of)).count], [name, contacts])
      }
      const file = OverviewAtoms.fileOf(summary)
      assert.include(file, `"List","'=news'""; <b>","25"\r\n`)
    })
  )

  it("has every month in between, once and in order, however many there are", () => {
    const months = ["1999-12", "2024-02", "2026-11"].map((month, at) => ({ month, contacts: at }))
    const counted = DateTime.makeUnsafe("2026-12-01T00:00:00Z")
    const all = OverviewAtoms.monthsOf({ counted, contacts: 3, statuses: [], months, lists: [] })
    assert.strictEqual(all.length, 27 * 12 + 1)
    assert.deepStrictEqual(all.slice(0, 2), [
      { name: "1999-12", contacts: 0, rule: "dateadded >= '1999-12-01' AND dateadded < '2000-01-01'" },
      { name: "2000-01", contacts: 0, rule: "dateadded >= '2000-01-01' AND dateadded < '2000-02-01'" }
    ])
    assert.deepInclude(all.at(-2), { name: "2026-11", contacts: 2 })
    assert.deepInclude(all.at(-1), { name: "2026-12", contacts: 0 })
  })

  it.live("asks again while the numbers are counted, and has none at a service that tells none", () =>
    Effect.gen(function* () {
      let asked = 0
      const summary: AccountSummary = {
        counted: DateTime.makeUnsafe(0),
        contacts: 1,
        statuses: [],
        months: [],
        lists: []
      }
      const account = (overview: AccountService["Service"]["overview"]) =>
        studioOn(Layer.mergeAll(Layer.fresh(layerMemory()), Layer.mock(AccountService)({ overview })))
      const counting = yield* account(Effect.sync(() => ({ summary: ++asked < 3 ? null : summary })))
      assert.deepStrictEqual(yield* counting.result(OverviewAtoms.summary), summary)
      assert.strictEqual(asked, 3)
      const reason = new Rejected({ status: 404, detail: "it is not there" })
      const untold = yield* account(Effect.fail(new ServiceError({ operation: "accountOverviewGet", reason })))
      assert.isUndefined(yield* untold.result(OverviewAtoms.summary))
    })
  )

  it("names the keys that end within a month, the next first", () => {
    const now = DateTime.makeUnsafe("2026-11-29T00:00:00Z")
    const key = (name: string, days: number | null) => ({
      name: EmailAddress.make(name),
      expires: days === null ? null : DateTime.add(now, { days })
    })
    const keys = [
      key("late@x.example", 31),
      key("soon@x.example", 30),
      key("never@x.example", null),
      key("over@x.example", -1)
    ]
    assert.deepStrictEqual(
      OverviewAtoms.endingOf(keys, now).map(({ hasEnded, name }) => [String(name), hasEnded]),
      [
        ["over@x.example", true],
        ["soon@x.example", false]
      ]
    )
  })
})
