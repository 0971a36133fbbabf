/** Conditional changes on PostgreSQL, where callers change contacts side by side. */
import { assert, it } from "@effect/vitest"
import { type ContactChange, ContactsService, EmailAddress } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Effect, Fiber } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { seededRandom } from "../../src/simulation/LongRun.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const email = (index: number) => EmailAddress.make(`p${index}@example.com`)

describePostgres("conditional changes on PostgreSQL", () => {
  it.live("of callers who saw the same, one wins each contact, be it new, changed or deleted meanwhile", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const random = seededRandom(7)
        const known = Array.from({ length: 20 }, (_, index) => index)
        yield* contacts.add(known.filter((index) => index % 2 === 0).map((index) => ({ email: email(index) })))
        const seenOf = (index: number) => (index % 2 === 0 ? ({ status: "Active" } as const) : null)
        const calls = Array.from({ length: 12 }, (_, caller) => {
          // Each in an order of its own.
          const some = known.toSorted(() => random() - 0.5).slice(0, 15)
          const changes = some.map((index): ContactChange =>
            index % 4 === 0
              ? { email: email(index), seen: seenOf(index), delete: true }
              : {
                  email: email(index),
                  seen: seenOf(index),
                  write: { firstName: `${caller}`, addToLists: [`list ${caller % 3}`] }
                }
          )
          const adds = contacts.add(some.slice(0, 3).map((index) => ({ email: email(100 + index) })))
          return Effect.andThen(
            adds,
            Effect.map(contacts.change(changes), (answers) =>
              answers.map(({ _tag }, place) => ({ caller, index: some[place] ?? -1, _tag }))
            )
          )
        })
        const answers = (yield* Effect.all(calls, { concurrency: "unbounded" })).flat()
        for (const index of known) {
          const own = answers.filter((answer) => answer.index === index)
          const winners = own.filter(({ _tag }) => _tag === "Done")
          assert.strictEqual(winners.length, 1, `contact ${index}`)
          const rest = index % 4 === 0 ? "AlreadySo" : "Outdated"
          assert.isTrue(
            own.every(({ _tag }) => _tag === "Done" || _tag === rest),
            `contact ${index}`
          )
        }
        const listed = yield* contacts.list({ limit: 1000 })
        const there = new Map<string, string | undefined>(listed.map((contact) => [contact.email, contact.firstName]))
        for (const { _tag, caller, index } of answers) {
          if (_tag === "Done") assert.strictEqual(there.get(email(index)), index % 4 === 0 ? undefined : `${caller}`)
        }
        const sql = yield* SqlClient.SqlClient
        const members = yield* sql`
          SELECT identity, name FROM list_members JOIN contacts ON contacts.id = contact_id
          JOIN lists ON lists.id = list_id ORDER BY identity`
        assert.deepStrictEqual<unknown>(
          members.map(({ identity, name }) => `${String(identity)} ${String(name)}`).sort(),
          answers
            .flatMap(({ _tag, caller, index }) =>
              _tag === "Done" && index % 4 !== 0 ? [`${email(index)} list ${caller % 3}`] : []
            )
            .sort()
        )
      }).pipe(Effect.provide(SqlServices.layerPostgres({ postgres: { url } })))
    }).pipe(Effect.scoped)
  )

  it.live("that make lists lock the account before contacts, as an add does, so that neither waits for the other", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const beside = yield* PostgresClient.make({ url })
      const watch = yield* PostgresClient.make({ url })
      const waiting = watch<{ readonly query: string }>`
        SELECT query FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE '%jobs%' ORDER BY xact_start`
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* contacts.add([{ email: email(0) }])
        const change = contacts.change([
          { email: email(0), seen: { status: "Active" }, write: { addToLists: ["changed"] } }
        ])
        const add = contacts.add([{ email: email(0) }], { listNames: ["added"] })
        const calls = yield* beside.withTransaction(
          Effect.gen(function* () {
            yield* beside`SELECT id FROM contacts FOR UPDATE`
            const first = yield* Effect.forkChild(change)
            yield* eventually(waiting, (queries) => queries.length === 1)
            const second = yield* Effect.forkChild(add)
            const [one, two] = yield* eventually(waiting, (queries) => queries.length === 2)
            assert.include(one?.query, "FROM contacts")
            assert.include(two?.query, "INTO account_locks")
            return [first, second] as const
          })
        )
        const [changed] = yield* Fiber.join(calls[0])
        assert.strictEqual(changed?._tag, "Done")
        yield* Fiber.join(calls[1])
      }).pipe(Effect.provide(SqlServices.layerPostgres({ postgres: { url } })))
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live("of a contact that another one makes after it was looked for are judged by what is there then", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const beside = yield* PostgresClient.make({ url })
      const watch = yield* PostgresClient.make({ url })
      const inserting = watch`
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO contacts%'`
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const write = { firstName: "late" }
        const calls = yield* beside.withTransaction(
          Effect.gen(function* () {
            const made = [email(0), email(1)].map((email) => {
              const fields = { custom_fields: '{"a":"1"}', source: "ManualInput", date_added: 1_700_000_000 }
              return { account: "", identity: email, email, status: "Unsubscribed", ...fields }
            })
            for (const one of made) yield* beside`INSERT INTO contacts ${beside.insert(one)}`
            const add = yield* Effect.forkChild(
              contacts.add([{ email: email(0), status: "Active", customFields: { b: "2" } }], { resubscribe: false })
            )
            const change = yield* Effect.forkChild(contacts.change([{ email: email(1), seen: null, write }]))
            yield* eventually(inserting, (queries) => queries.length === 2)
            return [add, change] as const
          })
        )
        const [added] = yield* Fiber.join(calls[0])
        assert.deepInclude<unknown>(added, {
          status: "Unsubscribed",
          source: "ManualInput",
          customFields: { a: "1", b: "2" }
        })
        assert.deepStrictEqual(yield* contacts.get(email(0)), added)
        const [changed] = yield* Fiber.join(calls[1])
        assert.strictEqual(changed?._tag, "Outdated")
        assert.isUndefined((yield* contacts.get(email(1))).firstName)
      }).pipe(Effect.provide(SqlServices.layerPostgres({ postgres: { url } })))
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
