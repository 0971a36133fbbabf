/** Pages of a rule by address: the same however many contacts are read by address before the rest is read by id. */
import { assert, describe, it } from "@effect/vitest"
import { contactOrders, parseRule } from "@roster/domain"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { orderOf } from "../../src/contacts/ContactKeys.ts"
import { makeScans } from "../../src/contacts/RuleScan.ts"
import * as Store from "../../src/store/Store.ts"

const count = 200
// In UTF-16 the last one comes before the one before it.
const beginnings = ["a", "b", "\u00e9", "\uff5a", "\u{1f600}"]

const addresses = Array.from(
  { length: count },
  (_, at) => `${beginnings[at % beginnings.length]}${String((at * 37) % count).padStart(3, "0")}@example.com`
)

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
    SELECT '', value, value, CASE WHEN key % 3 = 0 THEN 'Bounced' ELSE 'Active' END, '{}', 'ContactApi', 0
    FROM json_each(${JSON.stringify(addresses)}) ORDER BY key`
})

const Int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Asked = Schema.Struct({
  sort: Schema.Literals(contactOrders),
  atFirst: Int(1, count + 10),
  limit: Int(1, count),
  offset: Int(0, 80),
  after: Int(0, count - 1)
})

const idOf = (address: string) => addresses.indexOf(address) + 1

describe("a page of a rule", () => {
  it.effect.prop(
    "is the same however it is read",
    [Schema.Array(Asked).check(Schema.isMinLength(40), Schema.isMaxLength(40))],
    ([pages]) =>
      Effect.gen(function* () {
        yield* fill
        const { find } = makeScans(yield* SqlClient.SqlClient)
        const rule = yield* Effect.fromResult(parseRule("status = Bounced"))
        for (const { after, sort, ...page } of pages) {
          const order = orderOf(sort)
          const isById = order.column === "id"
          const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
          const sorted = isById ? addresses : addresses.toSorted(byBytes)
          const inOrder = order.isBackwards ? sorted.toReversed() : sorted
          const behind = inOrder[after] ?? ""
          const expected = inOrder
            .slice(after + 1)
            .filter((address) => (idOf(address) - 1) % 3 === 0)
            .slice(page.offset, page.offset + page.limit)
          const key = isById ? idOf(behind) : behind
          const { ids, last } = yield* find({ account: "", rule, now: 0, order, after: key, ...page })
          assert.deepStrictEqual([...ids], expected.map(idOf))
          const lastFound = expected.at(-1)
          if (lastFound !== undefined) assert.strictEqual(last, isById ? idOf(lastFound) : lastFound)
        }
      }).pipe(Effect.provide(Store.layer({ filename: ":memory:" }))),
    { arbitrary: { runs: 10 } }
  )
})
