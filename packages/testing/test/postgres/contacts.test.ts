/** What is PostgreSQL's own of the contacts: their keys and lists after an upgrade, and how long a rule may take. */
import { assert, it } from "@effect/vitest"
import { ContactFilter, ContactsService, EmailAddress, ListsService, RuleText } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Deferred, Effect, Fiber } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { migrateTo } from "../../../server/src/store/Migrations.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const email = (local: string) => EmailAddress.make(`${local}@example.com`)

/** Three contacts on a list, as version 13 of the tables wrote them. */
const fillBefore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const local of ["ann", "bob", "cleo"]) {
    yield* sql`INSERT INTO contacts ${sql.insert({
      account: "",
      identity: email(local),
      email: email(local),
      status: "Active",
      custom_fields: "{}",
      source: "ContactApi",
      date_added: 7
    })}`
  }
  yield* sql`INSERT INTO lists ${sql.insert({ account: "", name: "News" })}`
  yield* sql`INSERT INTO list_members SELECT lists.id, contacts.id FROM lists, contacts`
})

describePostgres("contacts on PostgreSQL", () => {
  it.live("keep their order and lists when the tables get other keys, and leave the lists when they are deleted", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.provide(Effect.andThen(migrateTo(13), fillBefore), PostgresClient.layer({ url }))
      const services = SqlServices.layerPostgres({ postgres: { url } })
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const lists = yield* ListsService
        const sql = yield* SqlClient.SqlClient
        const onList = Effect.map(lists.contacts("News"), (all) => all.map(({ email }) => email))
        assert.deepStrictEqual(yield* onList, [email("ann"), email("bob"), email("cleo")])
        yield* contacts.add([{ email: email("dan") }, { email: email("ann") }], { listNames: ["News"] })
        const all = yield* contacts.list()
        assert.deepStrictEqual(
          all.map(({ email }) => email),
          [email("ann"), email("bob"), email("cleo"), email("dan")]
        )
        yield* contacts.delete(email("bob"))
        yield* contacts.deleteMany(ContactFilter.ByEmails({ emails: [email("cleo")] }))
        assert.deepStrictEqual(yield* onList, [email("ann"), email("dan")])
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("All") }))
        assert.deepStrictEqual(yield* sql`SELECT * FROM list_members`, [])
      }).pipe(Effect.provide(services))
    }).pipe(Effect.scoped)
  )

  it.live("that a rule selects are looked for as long as may be, and nothing is done beyond that", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const rule = RuleText.make("firstname = 'Ann'")
      const services = SqlServices.layerPostgres({ postgres: { url }, ruleDeadline: "200 millis" })
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* contacts.add([{ email: email("ann"), firstName: "Ann" }])
        const sql = yield* PostgresClient.make({ url })
        const isLocked = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const lock = Effect.gen(function* () {
          yield* sql`LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE`
          yield* Deferred.succeed(isLocked, undefined)
          yield* Deferred.await(release)
        })
        const holder = yield* Effect.forkChild(sql.withTransaction(lock))
        yield* Deferred.await(isLocked)
        for (const call of [contacts.list({ rule }), contacts.deleteMany(ContactFilter.ByRule({ rule }))]) {
          const error = yield* Effect.flip(call)
          assert.include(error.message, "the rule was stopped after 0.2 s, and nothing was done")
        }
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(holder)
        assert.strictEqual((yield* contacts.list()).length, 1)
      }).pipe(Effect.provide([services, Reactivity.layer]))
    }).pipe(Effect.scoped)
  )

  it.live("that a rule selects are kept by its delete if another one changes them before they are locked", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const payloads = ["ann", "bob", "cleo"].map((local) => ({ email: email(local), firstName: "Ann" }))
        yield* contacts.add(payloads)
        const sql = yield* PostgresClient.make({ url })
        const isChanged = yield* Deferred.make<void>()
        const commit = yield* Deferred.make<void>()
        const change = Effect.gen(function* () {
          yield* sql`UPDATE contacts SET first_name = 'Eve' WHERE identity = ${email("bob")}`
          yield* Deferred.succeed(isChanged, undefined)
          yield* Deferred.await(commit)
        })
        const holder = yield* Effect.forkChild(sql.withTransaction(change))
        yield* Deferred.await(isChanged)
        const filter = ContactFilter.ByRule({ rule: RuleText.make("firstname = 'Ann'") })
        const deletion = yield* Effect.forkChild(contacts.deleteMany(filter))
        yield* eventually(
          sql<{ readonly waiting: boolean }>`
            SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())
              AS waiting`,
          ([found]) => found?.waiting === true
        )
        yield* Deferred.succeed(commit, undefined)
        yield* Fiber.join(holder)
        yield* Fiber.join(deletion)
        const left = yield* contacts.list()
        assert.deepStrictEqual(
          left.map(({ firstName }) => firstName),
          ["Eve"]
        )
      }).pipe(Effect.provide([SqlServices.layerPostgres({ postgres: { url } }), Reactivity.layer]))
    }).pipe(Effect.scoped)
  )
})
