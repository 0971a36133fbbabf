/** A store moves to PostgreSQL and back by `roster backup` and `roster restore`, whole or not at all. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import {
  AccountService,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  EmailsService,
  NamedRun,
  RunsService
} from "@roster/domain"
import { SqlServices, StoreBackup } from "@roster/server"
import { awaitExport } from "@roster/workflows"
import { Deferred, Effect, Fiber, FileSystem, Layer, Option, Redacted, Schema, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import * as Store from "../../../server/src/store/Store.ts"
import { firstFilled, tables } from "../../../server/src/store/StoreRows.ts"
import { exported } from "../../src/conformance/jobs/Exporting.ts"
import { askServe, killableServe, servePlace } from "../durability/KillableServe.ts"
import { runSeed } from "../../src/simulation/LongRun.ts"
import { runRoster } from "../durability/RosterCommand.ts"
import { assertWhole, countOf, rowsOf, writeTo } from "../durability/StoreLook.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { awkwardContacts } from "../../src/properties/AwkwardContacts.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** The tables that a move does not carry: those of the database, and what is counted anew. */
const uncarried = new Set(["migrations", "sqlite_stat1", "sqlite_stat4"])

/** All rows of a store in a file, by table. */
const contentOf = (filename: string): Readonly<Record<string, ReadonlyArray<unknown>>> => {
  using database = new DatabaseSync(filename, { readOnly: true })
  const names = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => String(name))
  return Object.fromEntries(
    names.filter((name) => !uncarried.has(name)).map((name) => [name, database.prepare(`SELECT * FROM ${name}`).all()])
  )
}

const sorted = (content: ReturnType<typeof contentOf>) =>
  Object.fromEntries(
    Object.entries(content).map(([name, rows]) => [name, rows.map((row) => JSON.stringify(row)).toSorted()])
  )

/** Something of everything that a store keeps. */
const fill = Effect.fnUntraced(function* (payloads: Parameters<ContactsService["Service"]["add"]>[0]) {
  const contacts = yield* ContactsService
  const { apiKeys, smtp } = yield* CredentialsService
  yield* contacts.add(payloads)
  const gone = EmailAddress.make("gone@example.com")
  yield* contacts.add([{ email: gone }], { listNames: ["Some list", "another"] })
  yield* contacts.add([{ email: EmailAddress.make("stays@example.com") }], { listNames: ["another"] })
  yield* (yield* AccountService).saveRule("vip", "All")
  const { id } = yield* (yield* RunsService).begin({ command: "delete", about: "gone", input: "one" })
  yield* Effect.provideService(contacts.delete(gone), NamedRun, id)
  yield* contacts.import({
    _tag: "File",
    name: "rows.csv",
    content: Stream.make("Email,FirstName\nnew@example.com,Ann\nno address,Bo\n").pipe(Stream.encodeText)
  })
  yield* eventually(Effect.option(contacts.get("new@example.com")), Option.isSome)
  yield* exported({ fileFormat: "Json" })
  yield* contacts.export({}, { idempotencyKey: "one" }).pipe(Effect.flatMap(({ id }) => awaitExport(id)))
  yield* contacts.add([{ email: EmailAddress.make("stays@example.com"), status: "Unsubscribed" }])
  yield* apiKeys.create({ name: CredentialName.make("a key"), accessLevels: ["Export"] })
  yield* apiKeys.create({ name: CredentialName.make("gone"), accessLevels: ["Export"] })
  yield* apiKeys.delete("gone")
  yield* smtp.create({ name: EmailAddress.make("smtp@example.com") })
  yield* Effect.flatMap(EmailsService, (emails) =>
    emails.send({
      recipients: [{ email: gone }],
      content: { from: "a@example.com", subject: "Hello", body: [{ contentType: "PlainText", content: "Hi" }] }
    })
  )
})

const exportsOf = (services: Layer.Layer<SqlServices.Services, unknown>) =>
  Effect.all([exported({ fileFormat: "Csv" }), exported({ fileFormat: "Json" })]).pipe(
    Effect.provide(Layer.fresh(services))
  )

/** The credentials of a PostgreSQL, and those of which its audit trail says that a restore has revoked them. */
const credentialsOf = Effect.fnUntraced(function* (url: Redacted.Redacted<string>) {
  const sql = yield* PostgresClient.make({ url })
  const keys = yield* sql`SELECT name FROM credentials`
  const entries = yield* sql<{ readonly subject: string }>`
    SELECT subject FROM audit_entries WHERE operation = 'restore' AND details LIKE '%levelsRemoved%'`
  return { keys, entries: entries.map(({ subject }) => subject) }
})

const allowedSenders = ["a@example.com"]

/** Waits until a statement waits in the database for a lock, or sleeps. */
const waiting = (sql: SqlClient.SqlClient, event: string) =>
  eventually(
    sql`SELECT 1 AS found FROM pg_stat_activity WHERE ${event} IN (wait_event_type, wait_event) AND datname = current_database()`,
    (rows) => rows.length > 0
  )

/** With the one of the service a multiple of what is copied at one time. */
const rows = 4999

/** A file with a store of some thousand contacts and a served key, and its backup. */
const served = Effect.gen(function* () {
  const place = yield* servePlace
  const first = yield* killableServe(place)
  yield* askServe(first, "POST", "/contacts", [{ Email: "ann@example.com" }])
  yield* first.stop
  writeTo(
    place,
    `INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
     SELECT 'other@example.com', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active', '{}', 'ContactApi', 1 FROM n`
  )
  const backup = join(place.folder, "backup.db")
  const made = yield* runRoster(place, ["backup", backup])
  assert.strictEqual(made.code, 0, made.stderr)
  const database = yield* freshDatabase
  const environment = { ROSTER_DATABASE_URL: Redacted.value(database) }
  const onPostgres = (...args: ReadonlyArray<string>) => runRoster(place, args, { environment })
  return { place, backup, database, onPostgres, sql: yield* PostgresClient.make({ url: database }) }
})

describePostgres("a move to PostgreSQL and back", () => {
  it.live.prop(
    "changes no row, no id and no byte of an export",
    { payloads: awkwardContacts({ minLength: 1, maxLength: 30 }) },
    ({ payloads }) =>
      Effect.gen(function* () {
        const folder = yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped())
        const [original, before, after, back] = ["a.db", "b.db", "c.db", "d.db"].map((name) => join(folder, name))
        assert.isDefined(original)
        assert.isDefined(before)
        assert.isDefined(after)
        assert.isDefined(back)
        const url = yield* freshDatabase
        yield* fill(payloads).pipe(Effect.provide(SqlServices.layer({ filename: original, allowedSenders })))
        yield* StoreBackup.create({ from: original, to: before })
        yield* StoreBackup.restore({ from: before, to: { url } })
        yield* StoreBackup.create({ from: { url }, to: after })
        yield* StoreBackup.restore({ from: after, to: back })
        const revoked = yield* freshDatabase
        const restored = yield* StoreBackup.restore({ from: before, to: { url: revoked }, revokeKeys: true })
        assert.deepStrictEqual([restored.carried.knowsKeys, restored.carried.credentials], [false, 0])
        const { entries, keys } = yield* credentialsOf(revoked)
        assert.deepStrictEqual(keys, [])
        assert.sameMembers(entries, ["a key", "smtp@example.com"])
        const content = contentOf(before)
        const carried = Object.keys(content).filter(
          (name) => !["contact_blocks", "change_writer", "overviews", "sqlite_sequence"].includes(name)
        )
        assert.sameMembers(
          carried,
          tables.map(({ name }) => name)
        )
        for (const { name } of tables) {
          if (name !== "credential_uses" && name !== "job_kept_statuses") {
            assert.isAbove(content[name]?.length ?? 0, 0, name)
          }
        }
        assert.deepStrictEqual(sorted(contentOf(after)), sorted(content))
        assert.deepStrictEqual(sorted(contentOf(back)), sorted(content))
        const given = yield* exportsOf(SqlServices.layer({ filename: original }))
        assert.deepStrictEqual(yield* exportsOf(SqlServices.layerPostgres({ postgres: { url } })), given)
        assert.deepStrictEqual(yield* exportsOf(SqlServices.layer({ filename: back })), given)
        // The numbers go on where they were.
        const sql = yield* PostgresClient.make({ url })
        const lists = yield* sql`INSERT INTO lists (account, name) VALUES ('', 'the next') RETURNING id`
        writeTo({ filename: original }, `INSERT INTO lists (account, name) VALUES ('', 'the next')`)
        assert.deepStrictEqual(
          lists,
          rowsOf({ filename: original }, Schema.Struct({ id: Schema.Int }), "SELECT max(id) AS id FROM lists")
        )
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer])),
    { arbitrary: { runs: 2, seed: runSeed("a move"), size: 50 }, timeout: 120_000 }
  )

  it.live("keeps the keys, prints no password, and replaces nothing", () =>
    Effect.gen(function* () {
      const { backup, database, onPostgres, place } = yield* served
      const asked = yield* onPostgres("restore", backup, "--dry-run")
      assert.include(asked.stdout, `"contacts":${rows + 1}`)
      const moved = yield* onPostgres("restore", backup, "--yes")
      assert.strictEqual(moved.code, 0, moved.stderr)
      const again = yield* onPostgres("restore", backup, "--yes")
      assert.strictEqual(again.code, 2)
      assert.include(again.stderr, "is not empty: there are rows in its table contacts. Name a new database.")
      const none = yield* onPostgres("restore", join(place.folder, "none.db"), "--yes")
      assert.notStrictEqual(none.code, 0)
      const serve = yield* killableServe(place, { database })
      assert.include((yield* askServe(serve, "GET", "/contacts")).text, "ann@example.com")
      yield* serve.stop
      const copy = join(place.folder, "copy.db")
      const copied = yield* onPostgres("backup", copy)
      assert.strictEqual(copied.code, 0, copied.stderr)
      const taken = yield* onPostgres("backup", copy)
      assert.strictEqual(taken.code, 2)
      assert.strictEqual(countOf({ ...place, filename: copy }, "contacts"), rows + 1)
      assertWhole({ ...place, filename: copy })
      const { password } = new URL(Redacted.value(database))
      for (const { stderr, stdout } of [asked, moved, again, none, copied, taken]) {
        assert.notInclude(stdout + stderr, password)
      }
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("leaves nothing behind when it is killed, and the next one does all of it", () =>
    Effect.gen(function* () {
      const { backup, database, onPostgres, place, sql } = yield* served
      const filesLike = (begin: string) => readdirSync(place.folder).filter((name) => name.startsWith(begin))
      yield* Effect.scoped(Layer.build(Store.layerPostgres({ url: database })))
      // Holds it when all contacts are written.
      yield* sql`CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3600); RETURN NEW; END'`
      yield* sql`CREATE TRIGGER held BEFORE INSERT ON credentials FOR EACH STATEMENT EXECUTE FUNCTION held()`
      const killed = yield* Effect.forkChild(onPostgres("restore", backup, "--yes"))
      yield* waiting(sql, "PgSleep")
      yield* Fiber.interrupt(killed)
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'`
      yield* sql`DROP TRIGGER held ON credentials`
      assert.isUndefined(yield* firstFilled(sql))
      const moved = yield* onPostgres("restore", backup, "--yes")
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.deepStrictEqual(yield* sql`SELECT count(*) AS contacts FROM contacts`, [{ contacts: rows + 1 }])
      assert.deepStrictEqual(filesLike("backup.db"), ["backup.db"])

      const copy = join(place.folder, "copy.db")
      const copying = yield* whileHeld(
        sql,
        "credentials",
        Effect.forkChild(onPostgres("backup", copy)),
        Fiber.interrupt
      )
      assert.isUndefined(copying)
      assert.notInclude(filesLike("copy.db"), "copy.db")
      const copied = yield* onPostgres("backup", copy)
      assert.strictEqual(copied.code, 0, copied.stderr)
      assert.deepStrictEqual(filesLike("copy.db"), ["copy.db"])
      assert.strictEqual(countOf({ ...place, filename: copy }, "contacts"), rows + 1)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("copies a store as of one moment, while others write", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.scoped(Layer.build(Store.layerPostgres({ url })))
      const sql = yield* PostgresClient.make({ url })
      const { folder } = yield* servePlace
      const file = join(folder, "copy.db")
      const backup = yield* whileHeld(
        sql,
        "contacts",
        Effect.forkChild(StoreBackup.create({ from: { url }, to: file })),
        (fiber) => Effect.as(sql`INSERT INTO lists (account, name) VALUES ('', 'too late')`, fiber)
      ).pipe(Effect.flatMap((fiber) => Fiber.join(fiber)))
      assert.strictEqual(backup.contacts, 0)
      assert.deepStrictEqual(contentOf(file)["lists"], [])
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )
})

/** Holds a table while something begins, and until it has waited for the table and something else was done. */
const whileHeld = <A, B, E, R, E2, R2>(
  sql: SqlClient.SqlClient,
  table: string,
  begin: Effect.Effect<A, E, R>,
  meanwhile: (begun: A) => Effect.Effect<B, E2, R2>
) =>
  Effect.gen(function* () {
    const held = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      sql.withTransaction(
        sql`LOCK TABLE ${sql(table)}`.pipe(
          Effect.andThen(Deferred.succeed(held, undefined)),
          Effect.andThen(Deferred.await(release))
        )
      )
    )
    yield* Deferred.await(held)
    const begun = yield* begin
    yield* waiting(sql, "Lock")
    const done = yield* meanwhile(begun)
    yield* Deferred.succeed(release, undefined)
    yield* Fiber.join(holder)
    return done
  })
