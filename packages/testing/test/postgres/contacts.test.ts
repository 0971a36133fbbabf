/** What is PostgreSQL's own of the contacts: their keys and lists after an upgrade, and how long a rule may take. */
import { assert, it } from "@effect/vitest"
import { ContactFilter, ContactsService, EmailAddress, ImportSource, ListsService, RuleText } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { migrateTo } from "../../../server/src/store/Migrations.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { describePostgres, freshDatabase, layerPostgres } from "./TestPostgres.ts"

const email = (local: string) => EmailAddress.make(`${local}@example.com`)

const people = ["ann@example.com,Ann", "bob@example.com,Bob", "cleo@example.com,Cleo"]

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

/** Carries out a change in a transaction, which stays open until it is told to commit. */
const held = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, change: Effect.Effect<unknown, SqlError.SqlError>) {
  const isChanged = yield* Deferred.make<void>()
  const mayCommit = yield* Deferred.make<void>()
  const transaction = Effect.gen(function* () {
    yield* change
    yield* Deferred.succeed(isChanged, undefined)
    yield* Deferred.await(mayCommit)
  })
  const holder = yield* Effect.forkChild(sql.withTransaction(transaction))
  yield* Deferred.await(isChanged)
  return {
    hasWaiter: eventually(
      sql<{ readonly waiting: boolean }>`
        SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())
          AS waiting`,
      ([found]) => found?.waiting === true
    ),
    commit: Effect.andThen(Deferred.succeed(mayCommit, undefined), Fiber.join(holder))
  }
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
        const holder = yield* held(sql, sql`UPDATE contacts SET first_name = 'Eve' WHERE identity = ${email("bob")}`)
        const filter = ContactFilter.ByRule({ rule: RuleText.make("firstname = 'Ann'") })
        const deletion = yield* Effect.forkChild(contacts.deleteMany(filter))
        yield* holder.hasWaiter
        yield* holder.commit
        yield* Fiber.join(deletion)
        const left = yield* contacts.list()
        assert.deepStrictEqual(
          left.map(({ firstName }) => firstName),
          ["Eve"]
        )
      }).pipe(Effect.provide([SqlServices.layerPostgres({ postgres: { url } }), Reactivity.layer]))
    }).pipe(Effect.scoped)
  )

  it.live("that an import makes are merged with one that another call makes at the same time", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const sql = yield* PostgresClient.make({ url })
        const bob = { account: "", identity: email("bob"), email: email("bob"), status: "Active", date_added: 7 }
        const more = { custom_fields: '{"city":"Bonn"}', source: "ContactApi" }
        const holder = yield* held(sql, sql`INSERT INTO contacts ${sql.insert({ ...bob, ...more })}`)
        const content = Stream.make(new TextEncoder().encode("Email,FirstName\n" + people.join("\n")))
        yield* contacts.import(ImportSource.File({ name: "people.csv", content, replayable: true }))
        yield* holder.hasWaiter
        yield* holder.commit
        yield* eventually(
          sql<{ readonly state: string }>`SELECT state FROM jobs`,
          ([job]) => job?.state !== "Loading" && job?.state !== "Receiving"
        )
        const stored = yield* contacts.list()
        assert.deepStrictEqual(
          stored.map(({ customFields, email, firstName }) => [email, firstName, customFields]),
          [
            [email("bob"), "Bob", { city: "Bonn" }],
            [email("ann"), "Ann", {}],
            [email("cleo"), "Cleo", {}]
          ]
        )
      }).pipe(Effect.provide([SqlServices.layerPostgres({ postgres: { url } }), Reactivity.layer]))
    }).pipe(Effect.scoped)
  )

  it.live("keep the signs that stand between texts on their way to the database, and empty texts", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const texts = ["\u{1E}", "\u{1F}", "\u{1E}\u{1F}", "a\u{1E}b", "\u{1F}a\u{1E}"]
      const payloads = texts.map((text, index) => ({
        email: email(`sign${index}`),
        firstName: text,
        customFields: { [`${text}name`]: text }
      }))
      yield* contacts.add(payloads)
      yield* contacts.add([{ email: email("empty"), firstName: "", lastName: "Ende" }])
      const stored = yield* contacts.list()
      assert.deepStrictEqual(
        stored.slice(0, -1).map(({ customFields, email, firstName }) => ({ email, firstName, customFields })),
        payloads
      )
      assert.deepInclude(stored.at(-1), { lastName: "Ende" })
    }).pipe(Effect.provide(layerPostgres), Effect.scoped)
  )
})
