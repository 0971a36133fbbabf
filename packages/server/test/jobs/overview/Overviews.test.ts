/** The numbers of accounts: what they are, how often they are counted, and by whom. */
import { assert, describe, it } from "@effect/vitest"
import { AccountService, ContactStatus, ListsService, maximumOverviewAge } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  claimOverview,
  countAccount,
  countOverview,
  forgetOverviews,
  readOverview
} from "../../../src/jobs/overview/Overviews.ts"
import * as Store from "../../../src/store/Store.ts"

const day = 24 * 60 * 60

/** Contacts of two accounts in turn: as the number says, of a status and a day. */
const fill = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const statuses = JSON.stringify(ContactStatus.literals)
  yield* sql`
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})
    INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
    SELECT CASE WHEN i % 7 = 0 THEN 'sub@example.com' ELSE '' END, 'c' || i || '@example.com', 'c' || i || '@example.com',
      json_extract(${statuses}, '$[' || (i % ${ContactStatus.literals.length}) || ']'), '{}', 'ContactApi', (i % 900) * ${day}
    FROM n`
})

/** The same, counted here. */
const expected = (count: number) => {
  const own = Array.from({ length: count }, (_, i) => i).filter((i) => i % 7 !== 0)
  const counted = (nameOf: (i: number) => string) => {
    const counts = new Map<string, number>()
    for (const i of own) counts.set(nameOf(i), (counts.get(nameOf(i)) ?? 0) + 1)
    return [...counts]
  }
  const statuses = new Map(counted((i) => ContactStatus.literals[i % ContactStatus.literals.length] ?? ""))
  return {
    contacts: own.length,
    statuses: ContactStatus.literals.map((status) => ({ status, contacts: statuses.get(status) })),
    months: counted((i) => new Date((i % 900) * day * 1000).toISOString().slice(0, 7))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([month, contacts]) => ({ month, contacts }))
  }
}

const store = Store.layer({ filename: ":memory:" })

const asleep = { wake: Effect.void, settled: Effect.void }

/** Counts what is asked for, if anything. */
const countWanted = Effect.flatMap(claimOverview, (claimed) =>
  claimed === undefined ? Effect.void : countOverview(claimed)
)

describe("the numbers of an account", () => {
  it.effect("are those of its contacts alone, over many statements", () =>
    Effect.gen(function* () {
      yield* fill(12_345)
      let statements = 0
      const summary = yield* countAccount(
        "",
        0,
        Effect.sync(() => statements++)
      )
      const { contacts, months, statuses } = summary
      assert.deepStrictEqual<unknown>({ contacts, statuses, months }, expected(12_345))
      assert.strictEqual(statements, 2)
      const { contacts: none, lists } = yield* countAccount("nobody@example.com", 0, Effect.void)
      assert.deepStrictEqual([none, lists], [0, []])
    }).pipe(Effect.provide(store))
  )

  it.effect("are counted when somebody asks, once a minute at most, by one worker, and forgotten in the end", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = sql`SELECT account, wanted, leased_until, counted FROM overviews`
      const contacts = Effect.map(readOverview("", asleep), ({ summary }) => summary?.contacts)
      yield* fill(70)
      yield* countWanted
      assert.deepStrictEqual(yield* rows, [])
      assert.isUndefined(yield* contacts)
      assert.isUndefined(yield* contacts)
      // Another worker is at it.
      yield* sql`UPDATE overviews SET leased_until = 10`
      yield* countWanted
      assert.isUndefined(yield* contacts)
      yield* TestClock.adjust("10 seconds")
      yield* countWanted
      assert.strictEqual(yield* contacts, 60)
      yield* sql`DELETE FROM contacts`
      yield* TestClock.adjust(`${maximumOverviewAge} seconds`)
      yield* countWanted
      assert.strictEqual(yield* contacts, 60)
      yield* TestClock.adjust("1 second")
      assert.isUndefined(yield* contacts)
      yield* countWanted
      assert.strictEqual(yield* contacts, 0)
      yield* forgetOverviews(sql, 71 + 3599)
      assert.strictEqual((yield* rows).length, 1)
      yield* forgetOverviews(sql, 71 + 3600)
      assert.deepStrictEqual(yield* rows, [])
      // A store that is read alone takes no note of it.
      yield* fill(7)
      assert.strictEqual((yield* readOverview("", { ...asleep, isAbsent: true })).summary?.contacts, 6)
      assert.deepStrictEqual(yield* rows, [])
    }).pipe(Effect.provide(store))
  )

  it.effect("are there at once in memory, where jobs take no time", () =>
    Effect.gen(function* () {
      yield* (yield* ListsService).create({ listName: "News" })
      const { summary } = yield* (yield* AccountService).overview
      assert.deepStrictEqual([summary?.contacts, summary?.lists], [0, [{ listName: "News", contacts: 0 }]])
    }).pipe(Effect.provide(layerMemory()))
  )
})
