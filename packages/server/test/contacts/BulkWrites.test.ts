import { assert, describe, it } from "@effect/vitest"
import { ContactFilter, ContactsService, EmailAddress, parseRule, RuleText, ServiceError } from "@roster/domain"
import { DateTime, Effect, Fiber, Result } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { writeEveryone, writeSelected, writtenAtOnce } from "../../src/contacts/BulkWrites.ts"
import { bulkDelete } from "../../src/contacts/ContactRepository.ts"
import * as SqlServices from "../../src/services/SqlServices.ts"
import { migrate } from "../../src/store/Migrations.ts"
import * as SqliteClient from "../../src/store/sqlite/SqliteClient.ts"

const inStore = Effect.provide(SqlServices.layerWithStore({ filename: ":memory:" }), { local: true })

const fill = (contacts: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${contacts})
      INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
      SELECT '', 'p' || i, 'p' || i || '@example.com', 'Active', '{}', 'ContactApi', 1700000000 FROM n`
  )

const left = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT count(*) FROM contacts`.values).pipe(
  Effect.map(([row]) => Number(row?.[0]))
)

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })

describe("a bulk delete", () => {
  it.live("keeps a contact that has changed since it was selected", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const contacts = writtenAtOnce + 10
      yield* fill(contacts)
      const rule = Result.getOrThrow(parseRule("status = Active"))
      const ids = Float64Array.from({ length: contacts }, (_, n) => n + 1)
      yield* sql`UPDATE contacts SET status = 'Engaged' WHERE id IN (1, 7, ${writtenAtOnce}, ${contacts})`
      yield* sql`DELETE FROM contacts WHERE id IN (8, ${contacts - 1})`
      yield* writeSelected(bulkDelete, "", ids, rule, yield* DateTime.now)
      assert.deepStrictEqual(yield* sql`SELECT id FROM contacts ORDER BY id`.values, [
        [1],
        [7],
        [writtenAtOnce],
        [contacts]
      ])
    }).pipe(inStore)
  )

  it.live("lets others read and write between its transactions, and spares who is added meanwhile", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* fill(20 * writtenAtOnce)
      const deletion = yield* Effect.forkChild(contacts.deleteMany(everyone), { startImmediately: true })
      const added: Array<string> = []
      const seen = new Set<number>()
      while (deletion.pollUnsafe() === undefined) {
        seen.add(yield* left)
        const email = EmailAddress.make(`new${added.length}@example.com`)
        yield* contacts.add([{ email }])
        added.push(email)
      }
      yield* Fiber.join(deletion)
      assert.isAbove(seen.size, 5)
      assert.deepStrictEqual(
        (yield* contacts.list({ limit: 1000 })).map(({ email }) => email),
        added
      )
    }).pipe(inStore)
  )

  it.live("that fails in the midst does not say that nothing was done", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-deletion-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
      )
      const filename = join(folder, "roster.db")
      yield* Effect.gen(function* () {
        yield* migrate
        yield* fill(5 * writtenAtOnce)
        const deletion = yield* Effect.forkChild(writeEveryone(bulkDelete, ""), { startImmediately: true })
        using other = new DatabaseSync(filename, { timeout: 0 })
        const isLocked = Effect.sync(() => {
          try {
            other.exec("BEGIN IMMEDIATE")
            return true
          } catch {
            return false
          }
        })
        while ((yield* left) === 5 * writtenAtOnce || !(yield* isLocked)) yield* Effect.yieldNow
        const error = yield* Effect.flip(Fiber.join(deletion))
        assert.strictEqual(error instanceof ServiceError && error.reason._tag, "OutcomeUnknown")
        other.exec("ROLLBACK")
        assert.isBelow(yield* left, 5 * writtenAtOnce)
        yield* writeEveryone(bulkDelete, "")
        assert.strictEqual(yield* left, 0)
      }).pipe(Effect.provide(SqliteClient.layer({ filename, busyTimeout: "50 millis" })))
    }).pipe(Effect.scoped)
  )

  it.live("is finished when its caller does not wait for it", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* fill(5 * writtenAtOnce)
      const deletion = yield* Effect.forkChild(contacts.deleteMany(everyone), { startImmediately: true })
      while ((yield* left) === 5 * writtenAtOnce) yield* Effect.yieldNow
      assert.isAbove(yield* left, 0)
      yield* Fiber.interrupt(deletion)
      assert.strictEqual(yield* left, 0)
    }).pipe(inStore)
  )
})
