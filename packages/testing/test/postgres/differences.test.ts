/** What SQLite does by itself, and a service on PostgreSQL has to see to: bytes, collations, and callers at the same time. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import {
  auditEntries,
  ContactsService,
  CredentialsService,
  EmailAddress,
  ListsService,
  ServiceError
} from "@roster/domain"
import { SqlServices, StoreBackup } from "@roster/server"
import { Effect, FileSystem, Layer, Path, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { readdirSync } from "node:fs"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { databaseWith, describePostgres, freshDatabase } from "./TestPostgres.ts"

const email = (local: string) => EmailAddress.make(`${local}@example.com`)

describePostgres("on PostgreSQL", () => {
  it.live("a refused name with a NUL is recorded as U+FFFD, and so are the refusals after it", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.gen(function* () {
        const { apiKeys } = yield* CredentialsService
        yield* Effect.flip(apiKeys.delete("a\0b"))
        yield* Effect.flip(apiKeys.delete("missing"))
        const entries = yield* eventually(Stream.runCollect(auditEntries()), ({ length }) => length === 2)
        assert.deepStrictEqual(
          entries.map(({ subject }) => subject),
          ["missing", "a\ufffdb"]
        )
      }).pipe(Effect.provide(SqlServices.layerPostgres({ postgres: { url } })))
    }).pipe(Effect.scoped)
  )

  it.live("lists are in the order of their bytes, whatever the collation of the database", () =>
    Effect.gen(function* () {
      const url = yield* databaseWith("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
      const listNames = ["b", "C", "a", "Z", "\u{1f600}", "\uff5e", "é"]
      const names = Effect.gen(function* () {
        yield* (yield* ContactsService).add([{ email: email("ann") }], { listNames })
        return (yield* (yield* ListsService).list()).map(({ listName }) => listName)
      })
      const onFile = yield* Effect.provide(names, SqlServices.layer({ filename: ":memory:" }))
      assert.deepStrictEqual(onFile, ["C", "Z", "a", "b", "é", "\uff5e", "\u{1f600}"])
      const services = SqlServices.layerPostgres({ postgres: { url } })
      assert.deepStrictEqual(yield* Effect.provide(names, services), onFile)
    }).pipe(Effect.scoped)
  )

  it.live("the planner knows how large the table is while it grows", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.gen(function* () {
        const { add } = yield* ContactsService
        const sql = yield* PostgresClient.make({ url })
        for (const block of ["a", "b", "c", "d"]) {
          yield* add(Array.from({ length: 1000 }, (_, at) => ({ email: email(`${block}${at}`) })))
        }
        // Vacuum comes a minute later.
        const [row] = yield* sql`SELECT reltuples AS rows FROM pg_class WHERE relname = 'contacts'`.values
        assert.isAtLeast(Number(row?.[0]), 2000)
      }).pipe(Effect.provide(Layer.mergeAll(SqlServices.layerPostgres({ postgres: { url } }), Reactivity.layer)))
    }).pipe(Effect.scoped)
  )

  it.live("answers that were kept by calls at once count in full towards the 1 GiB of an account", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const sql = yield* PostgresClient.make({ url })
        // Fourteen calls at a time read the same sum, and each added its 16 MiB to that.
        const keep = (first: number, last: number, body: string) =>
          sql.unsafe(`
          INSERT INTO idempotent_answers (account, call_key, request_digest, status, body, created, running)
          SELECT '', 'kept' || i, '', 200, ${body}, extract(epoch FROM now())::bigint, (i / 14 + 1) * 16 * 1024 * 1024
          FROM generate_series(${first}, ${last}) AS i`)
        // A copy is not compressed again.
        const copied = "(SELECT body FROM idempotent_answers WHERE call_key = 'kept0')"
        yield* keep(0, 0, "convert_to(repeat('a', 16 * 1024 * 1024), 'UTF8')")
        yield* keep(1, 62, copied)
        const add = (local: string) => contacts.add([{ email: email(local) }], { idempotencyKey: crypto.randomUUID() })
        yield* add("ann")
        yield* keep(63, 63, copied)
        // What was measured holds for ten seconds.
        const refusal = yield* eventually(
          Effect.flip(
            Effect.andThen(
              Effect.suspend(() => add("bob")),
              Effect.fail("it was kept")
            )
          ),
          (error) => error instanceof ServiceError
        )
        assert.include(String(refusal), "the answers kept for its Idempotency-Keys hold 1 GiB")
        // Those that nobody asks for again make room.
        yield* sql`UPDATE idempotent_answers SET created = created - 600`
        yield* add("cleo")
      }).pipe(Effect.provide([SqlServices.layerPostgres({ postgres: { url } }), Reactivity.layer]))
    }).pipe(Effect.scoped)
  )

  it.live("a backup is restored from a folder that cannot be written", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* files.makeTempDirectoryScoped()
      const filename = path.join(folder, "roster.db")
      const add = Effect.flatMap(ContactsService, (contacts) => contacts.add([{ email: email("ann") }]))
      yield* Effect.provide(add, SqlServices.layer({ filename }))
      const medium = path.join(folder, "medium")
      yield* files.makeDirectory(medium)
      const from = path.join(medium, "backup.db")
      yield* StoreBackup.create({ from: filename, to: from })
      const url = yield* freshDatabase
      let beside: ReadonlyArray<string> = []
      const restored = yield* StoreBackup.restore({
        from,
        to: { url },
        // The rights of a folder do not bind the user root.
        approve: () => Effect.sync(() => void (beside = readdirSync(medium)))
      })
      assert.strictEqual(restored.contacts, 1)
      assert.deepStrictEqual(beside, ["backup.db"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
