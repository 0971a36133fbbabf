/**
 * Decisions that rest on rows that they do not change, on two connections in an order that the test forces: each is held
 * where it has decided and writes, until another has come as far as it can.
 */
import { assert, it } from "@effect/vitest"
import {
  type AccessLevel,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  EmailMessage,
  EmailsService
} from "@roster/domain"
import { Caller, SqlServices } from "@roster/server"
import { Deferred, Effect, Fiber, Layer, Redacted, Result, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { withoutRepeat } from "../../../server/src/store/postgres/PostgresOptions.ts"
import { claimJob, createJob } from "../../../server/src/jobs/queue/JobQueue.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import * as Store from "../../../server/src/store/Store.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { describePostgres, runOn, freshDatabase } from "./TestPostgres.ts"

/** Two services whose statements go by indexes, and connections beside them. */
const two = Effect.gen(function* () {
  const url = yield* freshDatabase
  const address = new URL(Redacted.value(url))
  yield* runOn(address, `ALTER DATABASE ${address.pathname.slice(1)} SET enable_seqscan = off`)
  const layer = SqlServices.layerPostgres({ postgres: { url, maxConnections: 4 }, allowedSenders: ["example.com"] })
  const [first, second] = [yield* Layer.build(Layer.fresh(layer)), yield* Layer.build(Layer.fresh(layer))]
  return { first, second, sql: yield* PostgresClient.make({ url }), beside: yield* PostgresClient.make({ url }) }
})

/**
 * Waits until so many calls wait to insert. The jobs of the services may wait beside them, to update. Not in a transaction,
 * which sees the statements of one moment.
 */
const waitingCalls = (sql: SqlClient.SqlClient, count: number) =>
  eventually(
    sql<{ readonly waiting: number }>`
      SELECT count(*) AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO%'`,
    ([row]) => row?.waiting === count
  )

/** Begins two calls, the second when the first waits to write into a table, and lets them go on when both wait. */
const inOrder = Effect.fnUntraced(function* <A, E, B, F>(
  { beside, sql }: { readonly sql: SqlClient.SqlClient; readonly beside: SqlClient.SqlClient },
  table: string,
  first: Effect.Effect<A, E>,
  second: Effect.Effect<B, F>,
  between: Effect.Effect<unknown, unknown> = Effect.void
) {
  const calls = yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`LOCK TABLE ${sql(table)} IN SHARE MODE`
      const one = yield* Effect.forkChild(Effect.result(first))
      yield* waitingCalls(beside, 1)
      yield* between
      const other = yield* Effect.forkChild(Effect.result(second))
      yield* waitingCalls(beside, 2)
      return [one, other] as const
    })
  )
  return [yield* Fiber.join(calls[0]), yield* Fiber.join(calls[1])] as const
})

const managing: ReadonlyArray<AccessLevel> = ["ModifyAccessTokens"]

describePostgres("of two decisions on PostgreSQL", () => {
  for (const [what, targets] of [
    ["delete themselves", ["one", "two"]],
    ["delete each other", ["two", "one"]]
  ] as const) {
    it.live(`one is refused where the last two managing keys ${what}, while requests use them`, () =>
      Effect.gen(function* () {
        const { beside, first, second, sql } = yield* two
        const contexts = [first, second] as const
        const names = ["one", "two"] as const
        const ids = yield* Effect.forEach(names, (name) =>
          Effect.gen(function* () {
            const { apiKeys } = yield* CredentialsService
            yield* apiKeys.create({ name: CredentialName.make(name), accessLevels: managing })
            const [row] = yield* sql<{ readonly id: number }>`SELECT id FROM credentials WHERE name = ${name}`
            return row?.id ?? 0
          }).pipe(Effect.provideContext(first))
        )
        const deletion = (index: 0 | 1) =>
          CredentialsService.use(({ apiKeys }) => apiKeys.delete(targets[index])).pipe(
            Effect.provideContext(contexts[index]),
            Effect.provideService(Caller, {
              account: "",
              key: { id: ids[index] ?? 0, name: names[index], hint: "" }
            })
          )
        // What a request wrote of its key before, which conflicted with no decision: not of the row that is going.
        const used = Effect.forEach(ids, (id) =>
          beside
            .withTransaction(
              Effect.andThen(
                beside`SET LOCAL lock_timeout = 100`,
                beside`UPDATE credentials SET last_use = 1 WHERE id = ${id}`
              )
            )
            .pipe(withoutRepeat, Effect.ignore)
        )
        const outcomes = yield* inOrder({ sql, beside }, "audit_entries", deletion(0), deletion(1), used)
        assert.strictEqual(outcomes.filter(Result.isSuccess).length, 1, JSON.stringify(outcomes))
        assert.lengthOf(yield* sql`SELECT id FROM credentials`, 1)
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
    )
  }

  it.live("one is refused where an account has room for one job, and for one message", () =>
    Effect.gen(function* () {
      const { beside, first, second, sql } = yield* two
      yield* sql`
        INSERT INTO jobs (id, account, kind, state, request, created, expires, lease, leased_until)
        SELECT number::text, '', 'Export', 'Receiving', '{}', 0, 9000000000, 'x 1 elsewhere', 9000000000
        FROM generate_series(1, 99) AS number`
      const asked = ContactsService.use((contacts) => contacts.export())
      const exports = yield* inOrder(
        { sql, beside },
        "jobs",
        Effect.provideContext(asked, first),
        Effect.provideContext(asked, second)
      )
      assert.deepStrictEqual(exports.map(Result.isSuccess), [true, false])

      yield* sql`
        INSERT INTO outbox (message_id, transaction_id, account, message, bytes, created)
        SELECT number::text, '', '', '{}', 2, 0 FROM generate_series(1, 99999) AS number`
      const message = yield* Schema.decodeEffect(EmailMessage)({
        Recipients: [{ Email: "ann@example.com" }],
        Content: { From: "bo@example.com", Subject: "s", Body: [{ ContentType: "PlainText", Content: "t" }] }
      })
      const sent = EmailsService.use((emails) => emails.send(message))
      const emails = yield* inOrder(
        { sql, beside },
        "outbox",
        Effect.provideContext(sent, first),
        Effect.provideContext(sent, second)
      )
      assert.deepStrictEqual(emails.map(Result.isSuccess), [true, false])
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live("one finds the list that the other makes, whose name differs in letter case alone", () =>
    Effect.gen(function* () {
      const { beside, first, second, sql } = yield* two
      const adding = (email: string, list: string) =>
        ContactsService.use((contacts) => contacts.add([{ email: EmailAddress.make(email) }], { listNames: [list] }))
      const outcomes = yield* inOrder(
        { sql, beside },
        "lists",
        Effect.provideContext(adding("ann@example.com", "News"), first),
        Effect.provideContext(adding("bo@example.com", "news"), second)
      )
      assert.deepStrictEqual(outcomes.map(Result.isSuccess), [true, true])
      const lists = sql`
        SELECT name, count(contact_id) AS contacts FROM lists LEFT JOIN list_members ON list_id = id GROUP BY name`
      assert.deepStrictEqual(yield* lists, [{ name: "News", contacts: 2 }])

      // Nor do they make more lists than an account has.
      yield* sql`INSERT INTO lists (account, name) SELECT '', number::text FROM generate_series(1, 998) AS number`
      yield* sql`
        INSERT INTO list_members SELECT lists.id, contacts.id FROM lists, contacts
        WHERE contacts.identity = 'ann@example.com' AND lists.name <> 'News'`
      const last = yield* inOrder(
        { sql, beside },
        "lists",
        Effect.provideContext(adding("cy@example.com", "one more"), first),
        Effect.provideContext(adding("di@example.com", "another"), second)
      )
      assert.deepStrictEqual(last.map(Result.isSuccess), [true, false])
      assert.deepStrictEqual(yield* sql`SELECT count(*) AS count FROM lists`, [{ count: 1000 }])
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live("one takes no job where the other takes one of the same account", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const store = Store.layerPostgres({ url })
      const [first, second] = [yield* Layer.build(Layer.fresh(store)), yield* Layer.build(Layer.fresh(store))]
      const sql = yield* PostgresClient.make({ url })
      for (const id of ["a1", "a2", "b1"]) {
        yield* Effect.provideContext(
          createJob({ id, account: id.slice(0, 1), kind: "Export", state: "Loading", request: "{}" }),
          first
        )
      }
      const may = yield* Deferred.make<void>()
      const has = yield* Deferred.make<string | undefined>()
      const inFirst = SqlClient.SqlClient.use((client) =>
        client.withTransaction(
          claimJob("first").pipe(
            Effect.tap((job) => Deferred.succeed(has, job?.id)),
            Effect.tap(() => Deferred.await(may))
          )
        )
      ).pipe(Effect.provideContext(first))
      const one = yield* Effect.forkChild(inFirst)
      assert.strictEqual(yield* Deferred.await(has), "a1")
      const other = yield* Effect.forkChild(Effect.provideContext(claimJob("second"), second))
      // It waits for the account, or has left it alone.
      yield* Effect.raceFirst(waitingCalls(sql, 1), Fiber.await(other))
      yield* Deferred.succeed(may, undefined)
      yield* Fiber.join(one)
      const claimed = yield* Fiber.join(other)
      assert.strictEqual(claimed?.id, "b1")
      assert.isUndefined(yield* Effect.provideContext(claimJob("third"), second))
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
