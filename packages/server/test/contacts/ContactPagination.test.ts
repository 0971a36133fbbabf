import { assert, describe, it } from "@effect/vitest"
import { type ContactChange, ContactFilter, ContactsService, EmailAddress, RuleText } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../../src/credentials/Caller.ts"
import { makeScans } from "../../src/contacts/RuleScan.ts"
import { migrations } from "../../src/store/Migrations.ts"
import * as SqlServices from "../../src/services/SqlServices.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

const Int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Account = Schema.Literals(["one", "two"])
const Place = { account: Account, permille: Int(0, 1000) }

/** Enough at once to fill blocks of 1024 ids, and to empty them. Ids of the two accounts are mixed. */
const Step = Schema.Union([
  Schema.Struct({ _tag: Schema.tag("Add"), account: Account, count: Int(1, 1400) }),
  Schema.Struct({ _tag: Schema.tag("AddAgain"), ...Place, count: Int(1, 300) }),
  Schema.Struct({ _tag: Schema.tag("AddUncounted"), account: Account, count: Int(1, 1400) }),
  Schema.Struct({ _tag: Schema.tag("AddAndFail"), account: Account, count: Int(1, 300) }),
  Schema.Struct({ _tag: Schema.tag("Delete"), ...Place, count: Int(1, 20) }),
  Schema.Struct({ _tag: Schema.tag("Change"), ...Place, count: Int(1, 1400) }),
  Schema.Struct({ _tag: Schema.tag("DeleteByEmails"), ...Place, count: Int(1, 3000) }),
  Schema.Struct({ _tag: Schema.tag("DeleteByRule"), account: Account, group: Int(0, 4) })
])

const Page = Schema.Struct({ ...Place, limit: Int(0, 1000) })

interface Known {
  readonly email: string
  readonly group: number
}

const rule = (group: number) => RuleText.make(`FirstName = 'g${group}'`)

const contactOf = ({ email, group }: Known) => ({ email: EmailAddress.make(email), firstName: `g${group}` })

const content = ({ group }: Known) => ({ status: "Active", firstName: `g${group}` }) as const

/** As somebody adds them who knows nothing of counts. */
const rowOf = (account: string, { email, group }: Known) => ({
  account,
  identity: email,
  email,
  status: "Active",
  first_name: `g${group}`,
  custom_fields: "{}",
  source: "ContactApi",
  date_added: 0
})

const inBatches = <A, B, E, R>(all: ReadonlyArray<A>, f: (batch: ReadonlyArray<A>) => Effect.Effect<B, E, R>) =>
  Effect.gen(function* () {
    for (let at = 0; at < all.length; at += 1000) yield* f(all.slice(at, at + 1000))
  })

/** The services on a store in memory, beside a list of what has to be in it. */
const makeModel = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const sql = yield* SqlClient.SqlClient
  const known = { one: Array<Known>(), two: Array<Known>() }
  let added = 0
  const fresh = (count: number) =>
    Array.from({ length: count }, (): Known => ({ email: `c${added++}@example.com`, group: added % 5 }))
  const add = (some: ReadonlyArray<Known>) => inBatches(some.map(contactOf), (batch) => contacts.add(batch))
  const slice = (of: typeof Account.Type, permille: number, count: number) => {
    const from = Math.floor((known[of].length * permille) / 1000)
    return known[of].slice(from, from + count)
  }
  const remove = (of: typeof Account.Type, gone: ReadonlyArray<Known>) => {
    const emails = new Set(gone.map(({ email }) => email))
    known[of] = known[of].filter(({ email }) => !emails.has(email))
  }

  const run = Effect.fnUntraced(function* (step: typeof Step.Type) {
    switch (step._tag) {
      case "Add": {
        const some = fresh(step.count)
        yield* add(some)
        known[step.account].push(...some)
        return
      }
      case "AddAgain":
        return yield* add(slice(step.account, step.permille, step.count))
      case "AddUncounted": {
        const some = fresh(step.count)
        for (const known of some) yield* sql`INSERT INTO contacts ${sql.insert(rowOf(step.account, known))}`
        known[step.account].push(...some)
        return
      }
      case "AddAndFail": {
        const failing = sql.withTransaction(Effect.andThen(add(fresh(step.count)), Effect.fail("no")))
        assert.strictEqual(yield* Effect.flip(failing), "no")
        return
      }
      case "Change": {
        const gone = slice(step.account, step.permille, step.count)
        const some = fresh(step.count)
        const changes = some.flatMap(({ email, group }, index): ReadonlyArray<ContactChange> => {
          const made = { email: EmailAddress.make(email), seen: null, write: { firstName: `g${group}` } }
          const old = gone[index]
          return old === undefined
            ? [made]
            : [
                made,
                { ...made, email: EmailAddress.make(old.email), seen: content(old), write: undefined, delete: true }
              ]
        })
        yield* inBatches(changes, (batch) =>
          Effect.map(contacts.change(batch), (answers) => assert.isTrue(answers.every(({ _tag }) => _tag === "Done")))
        )
        remove(step.account, gone)
        known[step.account].push(...some)
        return
      }
      case "Delete": {
        const gone = slice(step.account, step.permille, step.count)
        yield* Effect.forEach(gone, ({ email }) => contacts.delete(email), { discard: true })
        return remove(step.account, gone)
      }
      case "DeleteByEmails": {
        const gone = slice(step.account, step.permille, step.count)
        const [first, ...others] = gone.map(({ email }) => email)
        if (first === undefined) return
        yield* contacts.deleteMany(ContactFilter.ByEmails({ emails: [first, ...others] }))
        return remove(step.account, gone)
      }
      case "DeleteByRule":
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule: rule(step.group) }))
        return remove(
          step.account,
          known[step.account].filter(({ group }) => group === step.group)
        )
    }
  })

  /** The same page of the service and of the list, and the same number. */
  const look = Effect.fnUntraced(function* (page: typeof Page.Type, group?: number) {
    const all = known[page.account].filter((contact) => group === undefined || contact.group === group)
    const offset = Math.floor((all.length * page.permille) / 1000)
    const listed = yield* contacts.list({
      limit: page.limit,
      offset,
      ...(group === undefined ? {} : { rule: rule(group) })
    })
    assert.deepStrictEqual(
      listed.map(({ email }) => email),
      all.slice(offset, offset + page.limit).map(({ email }) => email)
    )
    const counted = yield* contacts.count(group === undefined ? {} : { rule: rule(group) })
    assert.deepStrictEqual(counted, { count: all.length })
  })

  /** What is counted is what is there, and after an add all of it is counted. */
  const checkCounts = Effect.fnUntraced(function* (isComplete: boolean) {
    const counted = yield* sql`SELECT account, block, contacts FROM contact_blocks ORDER BY account, block`
    const there = yield* sql`
      SELECT account, id >> 10 AS block, count(*) AS contacts FROM contacts AS c
      WHERE ${isComplete} OR id <= (SELECT max(last) FROM contact_blocks WHERE account = c.account)
      GROUP BY account, block ORDER BY account, block`
    assert.deepStrictEqual(counted, there)
  })

  return { checkCounts, known, look, run }
})

const inStore = Effect.provide(SqlServices.layerWithStore({ filename: ":memory:" }), { local: true })

const as = (account: string) => Effect.provideService(Caller, { account })

describe("pages of contacts", () => {
  it.effect.prop(
    "at any offset are the slice of the list, whoever was added and deleted, with a rule and without",
    [Schema.Array(Schema.Tuple([Step, Page, Page])).check(Schema.isMinLength(8), Schema.isMaxLength(16))],
    ([steps]) =>
      Effect.gen(function* () {
        const { checkCounts, look, run } = yield* makeModel
        for (const [step, page, other] of steps) {
          yield* run(step).pipe(as(step.account))
          yield* checkCounts(false)
          yield* look(page).pipe(as(page.account))
          yield* look(other, 3).pipe(as(other.account))
          yield* look({ ...page, permille: 1000 }).pipe(as(page.account))
        }
        for (const account of Account.literals) yield* run({ _tag: "Add", account, count: 1 }).pipe(as(account))
        yield* checkCounts(true)
      }).pipe(inStore),
    { arbitrary: { runs: long ? 20 : 8 }, timeout: 60_000 }
  )

  it.effect("of a store that had contacts before they were counted are right as well", () =>
    Effect.gen(function* () {
      const { checkCounts, look, run } = yield* makeModel
      const sql = yield* SqlClient.SqlClient
      for (const account of ["one", "two", "one"] as const) {
        yield* run({ _tag: "Add", account, count: 1400 }).pipe(as(account))
      }
      yield* sql`DROP TRIGGER contact_blocks_remove`
      yield* sql`DROP TABLE contact_blocks`
      yield* sql`DROP INDEX contacts_in_order`
      yield* run({ _tag: "DeleteByEmails", account: "one", permille: 300, count: 900 }).pipe(as("one"))
      yield* migrations["6_contact_blocks"]
      // Counted by the trigger of before.
      yield* run({ _tag: "AddUncounted", account: "one", count: 1100 }).pipe(as("one"))
      yield* run({ _tag: "DeleteByEmails", account: "two", permille: 700, count: 20 }).pipe(as("two"))
      yield* migrations["10_count_after_adding"]
      yield* checkCounts(true)
      yield* run({ _tag: "Add", account: "two", count: 700 }).pipe(as("two"))
      yield* checkCounts(true)
      for (let permille = 0; permille <= 1000; permille += 50) {
        yield* look({ account: "one", permille, limit: 30 }).pipe(as("one"))
        yield* look({ account: "two", permille, limit: 30 }).pipe(as("two"))
      }
    }).pipe(inStore)
  )

  it.effect("are right after uncounted contacts were added and deleted", () =>
    Effect.gen(function* () {
      const { checkCounts, look, run } = yield* makeModel
      const pages = Effect.gen(function* () {
        for (let permille = 0; permille <= 1000; permille += 50) yield* look({ account: "one", permille, limit: 30 })
      })
      yield* run({ _tag: "AddUncounted", account: "one", count: 50 })
      yield* pages
      yield* run({ _tag: "Add", account: "one", count: 50 })
      yield* checkCounts(true)
      yield* run({ _tag: "AddUncounted", account: "one", count: 1400 })
      yield* run({ _tag: "DeleteByEmails", account: "one", permille: 60, count: 900 })
      yield* checkCounts(false)
      yield* pages
      // Not one is left that is counted.
      yield* run({ _tag: "DeleteByEmails", account: "one", permille: 0, count: 120 })
      yield* checkCounts(false)
      yield* pages
      yield* run({ _tag: "Add", account: "one", count: 1 })
      yield* checkCounts(true)
      yield* pages
    }).pipe(as("one"), inStore)
  )

  it.live("one after another contain each permanent contact once, while others come and go", () =>
    Effect.gen(function* () {
      const { known, run } = yield* makeModel
      const contacts = yield* ContactsService
      yield* run({ _tag: "Add", account: "one", count: 5000 })
      const before = known.one.map(({ email }) => email)
      const seen: Array<string> = []
      let pages = 0
      yield* contacts.stream().pipe(
        Stream.runForEachArray((page) =>
          Effect.gen(function* () {
            seen.push(...page.map(({ email }) => email))
            pages++
            const last = new Set(seen.slice(-1000))
            const place = known.one.findLastIndex(({ email }) => last.has(email))
            const permille = (place: number) => Math.max(0, Math.floor((place / known.one.length) * 1000))
            // Far before the place of the reading, around it and behind it, and new ones at the end.
            yield* run({ _tag: "DeleteByEmails", account: "one", permille: permille(place - 200), count: 400 })
            yield* run({ _tag: "Delete", account: "one", permille: permille(place / 3), count: 20 })
            yield* run({ _tag: "Delete", account: "one", permille: permille(place + 1200), count: 20 })
            if (pages < 4) yield* run({ _tag: "Add", account: "one", count: 100 })
          })
        )
      )
      const there = new Set(known.one.map(({ email }) => email))
      assert.isAbove(pages, 4)
      assert.strictEqual(new Set(seen).size, seen.length)
      const stayed = before.filter((email) => there.has(email))
      const isStayed = new Set(stayed)
      assert.deepStrictEqual(
        seen.filter((email) => isStayed.has(email)),
        stayed
      )
    }).pipe(inStore)
  )
})

describe("the fields of contacts", () => {
  it.effect("are those of the first contacts where there is no time for all of them", () =>
    Effect.gen(function* () {
      const { run } = yield* makeModel
      const sql = yield* SqlClient.SqlClient
      yield* run({ _tag: "Add", account: "one", count: 100 })
      const { fields } = makeScans(sql)
      const asked = { account: "one", rule: { _tag: "All" }, now: 0 } as const
      const cut = yield* fields({ ...asked, millis: 0 })
      assert.isFalse(cut.exact)
      assert.isBelow(cut.contacts, 100)
      const whole = yield* fields({ ...asked, millis: 60_000 })
      assert.deepStrictEqual([whole.exact, whole.contacts], [true, 100])
    }).pipe(as("one"), inStore)
  )
})
