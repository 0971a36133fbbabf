/** Several services on one PostgreSQL: what they must not do twice, lose, or do against each other. */
import { assert, it } from "@effect/vitest"
import { ContactsService, CredentialName, CredentialsService, EmailAddress } from "@roster/domain"
import { Caller, SqlServices } from "@roster/server"
import { type Context, Effect, Exit, Fiber, Layer, Result } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { advanceJob, claimJob, createJob } from "../../../server/src/jobs/queue/JobQueue.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import * as Store from "../../../server/src/store/Store.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const reactivity = Reactivity.layer

/** Runs an effect on one of some services, in turn. */
const onEach =
  <Services>(all: ReadonlyArray<Context.Context<Services>>) =>
  (index: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Services>> => {
    const context = all[index % all.length]
    return context === undefined ? Effect.die(new Error("no services")) : Effect.provideContext(effect, context)
  }

/** As many services as there would be processes, each with its own connections. */
const services = Effect.fnUntraced(function* (count: number) {
  const url = yield* freshDatabase
  return yield* Effect.forEach(
    Array.from({ length: count }, () => SqlServices.layerPostgres({ postgres: { url, maxConnections: 4 } })),
    (layer) => Layer.build(Layer.fresh(layer))
  )
})

const atOnce = { concurrency: "unbounded" } as const

const email = (local: string) => EmailAddress.make(`${local}@example.com`)

/** The same order in every run, and another one for each seed. */
const shuffled = <A>(values: ReadonlyArray<A>, seed: number): ReadonlyArray<A> =>
  values
    .map((value, index) => [((index + 1) * (seed * 7919 + 31)) % 1009, value] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, value]) => value)

describePostgres("services on one PostgreSQL", () => {
  it.live("lose no field that several give to the same contacts at once, in any order", () =>
    Effect.gen(function* () {
      const on = onEach(yield* services(3))
      const emails = Array.from({ length: 200 }, (_, i) => email(`c${i}`))
      yield* Effect.forEach(
        Array.from({ length: 9 }, (_, i) => i),
        (writer) => {
          const contacts = shuffled(emails, writer).map((email) => ({
            email,
            customFields: { [`field${writer}`]: `${writer}` }
          }))
          return on(writer)(Effect.flatMap(ContactsService, (service) => service.add(contacts)))
        },
        atOnce
      )
      const found = yield* on(0)(Effect.flatMap(ContactsService, (contacts) => contacts.list({ limit: 1000 })))
      assert.deepStrictEqual(found.map((contact) => contact.email).toSorted(), emails.toSorted())
      for (const { customFields = {} } of found) assert.strictEqual(Object.keys(customFields).length, 9)
    }).pipe(Effect.scoped)
  )

  it.live("add a contact that another one deletes while they wait for it", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const context = yield* Layer.build(SqlServices.layerPostgres({ postgres: { url } }))
      const other = yield* PostgresClient.make({ url })
      const add = (...locals: ReadonlyArray<string>) =>
        Effect.flatMap(ContactsService, (contacts) =>
          contacts.add(locals.map((local) => ({ email: email(local), firstName: "again" })))
        ).pipe(Effect.provideContext(context))
      yield* add("a", "b")
      const waiting = other<{ readonly count: number }>`
        SELECT count(*) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      const adding = yield* other.withTransaction(
        Effect.gen(function* () {
          yield* other`SELECT id FROM contacts WHERE identity = 'b@example.com' FOR UPDATE`
          const adding = yield* Effect.forkChild(add("a", "b", "c"))
          yield* eventually(waiting, ([row]) => row?.count === 1)
          yield* other`DELETE FROM contacts WHERE identity = 'b@example.com'`
          return adding
        })
      )
      const added = yield* Fiber.join(adding)
      assert.deepStrictEqual(
        added.map(({ email, firstName }) => [email, firstName]),
        ["a", "b", "c"].map((local) => [email(local), "again"])
      )
      const [row] = yield* other`SELECT count(*) AS contacts FROM contacts`
      assert.deepStrictEqual(row, { contacts: 3 })
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("carry out calls with one idempotency key once, and give all the same answer", () =>
    Effect.gen(function* () {
      const on = onEach(yield* services(3))
      const links = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, i) => i),
        (call) =>
          on(call)(Effect.flatMap(ContactsService, (contacts) => contacts.export({}, { idempotencyKey: "one" }))),
        atOnce
      )
      assert.strictEqual(new Set(links.map(({ id }) => id)).size, 1)
      const count = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ readonly jobs: number }>`SELECT count(*) AS jobs FROM jobs`
      )
      const [row] = yield* on(0)(count)
      assert.strictEqual(row?.jobs, 1)
    }).pipe(Effect.scoped)
  )

  it.live("leave a key that manages keys, when two keys delete each other at once", () =>
    Effect.gen(function* () {
      const on = onEach(yield* services(2))
      for (let round = 0; round < 5; round++) {
        const names = [`one${round}`, `two${round}`]
        const inFirst = on(0)
        for (const name of names) {
          yield* inFirst(
            Effect.flatMap(CredentialsService, ({ apiKeys }) =>
              apiKeys.create({ name: CredentialName.make(name), accessLevels: ["ModifyAccessTokens"] })
            )
          )
        }
        const ids = yield* inFirst(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) =>
              sql<{ readonly id: number }>`SELECT id FROM credentials WHERE name IN ${sql.in(names)} ORDER BY name`
          )
        )
        const outcomes = yield* Effect.forEach(
          names,
          (name, index) =>
            Effect.flatMap(CredentialsService, ({ apiKeys }) => apiKeys.delete(names[1 - index] ?? "")).pipe(
              on(index),
              Effect.provideService(Caller, { account: "", key: { id: ids[index]?.id ?? 0, name, hint: "" } }),
              Effect.result
            ),
          atOnce
        )
        assert.strictEqual(outcomes.filter(Result.isSuccess).length, 1, JSON.stringify(outcomes))
        // The owner may do what a key may not.
        for (const name of names) {
          yield* inFirst(Effect.ignore(Effect.flatMap(CredentialsService, ({ apiKeys }) => apiKeys.delete(name))))
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("claim one job of an account at a time, and none twice", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const clients = yield* Effect.forEach([1, 2, 3], () => Layer.build(Layer.fresh(Store.layerPostgres({ url }))))
      const on = onEach(clients)
      for (let job = 0; job < 20; job++) {
        const account = job < 10 ? "" : `a${job % 5}@example.com`
        const request = { id: `${job}`, account, kind: "Export", state: "Loading", request: "{}" } as const
        yield* on(0)(createJob(request))
      }
      const claimed = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, i) => i),
        (worker) => on(worker)(claimJob(`lease ${worker}`)),
        atOnce
      )
      const accounts = claimed.flatMap((job) => (job === undefined ? [] : [job.account]))
      assert.strictEqual(new Set(accounts).size, accounts.length)
      assert.isAbove(accounts.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("let a worker write nothing more whose lease another one has", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(Store.layerPostgres({ url: yield* freshDatabase }))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* createJob({ id: "job", account: "", kind: "Export", state: "Loading", request: "{}" })
        const first = yield* claimJob("first")
        yield* sql`UPDATE jobs SET leased_until = 1`
        const second = yield* claimJob("second")
        assert.strictEqual(second?.number, first?.number)
        if (first === undefined || second === undefined) return
        const progress = { rows_done: 1, accepted: 1, rejected: 0 }
        const late = yield* Effect.exit(advanceJob(first, progress))
        assert.include(JSON.stringify(late), "LeaseLost")
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(advanceJob(second, progress))))
      }).pipe(Effect.provideContext(context))
    }).pipe(Effect.scoped)
  )
})
