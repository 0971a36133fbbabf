/** What the audit trail tells of the contacts that a key wrote: one entry a run, and one of each key and hour without a run. */
import { assert, it } from "@effect/vitest"
import {
  AccountService,
  ContactFilter,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  NamedRun,
  RunsService
} from "@roster/domain"
import { Caller, type SqlServices, type StoreError } from "@roster/server"
import { Effect, type Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"

const email = (local: string) => EmailAddress.make(`${local}@example.com`)

/** Makes a key, and gives what runs an effect as it. */
const keyOf = Effect.fnUntraced(function* (name: string) {
  const { apiKeys } = yield* CredentialsService
  const sql = yield* SqlClient.SqlClient
  const levels = ["ViewContacts", "ModifyContacts"] as const
  yield* apiKeys.create({ name: CredentialName.make(name), accessLevels: levels })
  const [row] = yield* sql<{ readonly id: number; readonly hint: string }>`
    SELECT id, secret_hint AS hint FROM credentials WHERE name = ${name}`
  const key = {
    id: Number(row?.id),
    name,
    hint: row?.hint ?? "",
    level: "ModifyContacts",
    mayViewContacts: true
  } as const
  return Effect.provideService(Caller, { account: "", key })
})

/** What the trail has of the contacts that a key wrote, the newest first. */
const written = (key: string) =>
  Effect.map(
    AccountService.use((account) => account.auditTrail({ key })),
    (entries) =>
      entries.map(({ contacts, details: { command }, operation, subject }) => ({
        operation,
        subject,
        ...(command === undefined ? {} : { command }),
        ...contacts
      }))
  )

type Services = Layer.Layer<SqlServices.Services | SqlClient.SqlClient, StoreError>

/** Registers the tests for a store that is opened anew each time. */
export const writtenAuditCases = <E>(store: Effect.Effect<() => Services, E, Scope.Scope>) => {
  it.live("has one entry of a run, which grows with it", () =>
    Effect.gen(function* () {
      const open = yield* store
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const as = yield* keyOf("importer")
        const { id } = yield* as(RunsService.use((runs) => runs.begin({ command: "import", about: "a secret name" })))
        const inRun = <A, E>(effect: Effect.Effect<A, E>) => as(Effect.provideService(effect, NamedRun, id))
        assert.deepStrictEqual(yield* written("importer"), [])
        yield* inRun(contacts.add([{ email: email("ada") }, { email: email("bob"), status: "Unsubscribed" }]))
        yield* inRun(contacts.add([{ email: email("ada"), status: "Bounced" }]))
        yield* inRun(contacts.update(email("ada"), { firstName: "Ada" }))
        yield* inRun(contacts.delete(email("bob")))
        const entry = { operation: "run", subject: id, command: "import", added: 2, changed: 2, deleted: 1 }
        assert.deepStrictEqual(yield* written("importer"), [{ ...entry, gainedMail: 0, lostMail: 1 }])
        const sql = yield* SqlClient.SqlClient
        for (const change of [
          sql`UPDATE audit_entries SET created = 1 WHERE subject = ${id}`,
          sql`UPDATE audit_entries SET actor_name = 'eve', created = 9 WHERE subject = ${id}`,
          sql`DELETE FROM audit_entries WHERE subject = ${id}`
        ]) {
          assert.strictEqual((yield* Effect.exit(change))._tag, "Failure")
        }
      }).pipe(Effect.provide(open()))
    }).pipe(Effect.scoped)
  )

  it.live("sums what a key writes without a run in an hour, once the service ends at the latest", () =>
    Effect.gen(function* () {
      const open = yield* store
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const as = yield* keyOf("form")
        yield* as(contacts.add([{ email: email("ada") }, { email: email("bob") }, { email: email("cy") }]))
        yield* as(contacts.add([{ email: email("ada"), status: "Bounced" }]))
        yield* as(contacts.delete(email("ada")))
        yield* as(contacts.deleteMany(ContactFilter.ByEmails({ emails: [email("bob")] })))
        yield* Effect.flip(as(contacts.delete(email("nobody"))))
        // The owner needs no trail.
        yield* contacts.add([{ email: email("dot") }])
      }).pipe(Effect.provide(open(), { local: true }))
      const sums = yield* written("form").pipe(Effect.provide(open(), { local: true }))
      const sum = (of: "added" | "changed" | "deleted" | "lostMail") =>
        sums.reduce((sum, entry) => sum + (entry[of] ?? 0), 0)
      assert.deepStrictEqual([sum("added"), sum("changed"), sum("deleted"), sum("lostMail")], [3, 1, 2, 1])
      // Another hour may have begun.
      assert.isAtMost(sums.length, 2)
      for (const { operation, subject } of sums) assert.deepStrictEqual([operation, subject], ["writes", null])
    }).pipe(Effect.scoped)
  )

  it.live("sums what an import without a run wrote, in the transactions of its job", () =>
    Effect.gen(function* () {
      const open = yield* store
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const account = yield* AccountService
        const as = yield* keyOf("importer")
        yield* contacts.add([{ email: email("ada") }])
        const ended = Effect.gen(function* () {
          const [job] = yield* account.jobs({ limit: 1 })
          return job !== undefined && job.ended !== null && !job.running
        })
        for (const rows of ["ada@example.com,Unsubscribed\nbob@example.com,Active", "cy@example.com,Active"]) {
          yield* as(contacts.import(file(utf8(`Email,Status\n${rows}\n`))))
          yield* eventually(ended, (ended) => ended)
        }
        const sums = yield* written("importer")
        const sum = (of: "added" | "changed" | "lostMail") => sums.reduce((sum, entry) => sum + (entry[of] ?? 0), 0)
        assert.deepStrictEqual([sum("added"), sum("changed"), sum("lostMail")], [2, 1, 1])
        for (const { operation, subject } of sums) assert.deepStrictEqual([operation, subject], ["writes", null])
      }).pipe(Effect.provide(open()))
    }).pipe(Effect.scoped)
  )

  it.live("has 100 entries of runs of an account in an hour, and sums what further ones write", () =>
    Effect.gen(function* () {
      const open = yield* store
      yield* Effect.gen(function* () {
        const contacts = yield* ContactsService
        const runs = yield* RunsService
        const as = yield* keyOf("looping")
        for (let number = 0; number < 102; number++) {
          const { id } = yield* as(runs.begin({ command: "import" }))
          const adding = contacts.add([{ email: email(`n${number}`) }])
          yield* as(Effect.provideService(adding, NamedRun, id))
        }
        const entries = yield* AccountService.use((account) => account.auditTrail({ key: "looping", limit: 1000 }))
        const count = (operation: string) =>
          entries.reduce((sum, entry) => sum + (entry.operation === operation ? (entry.contacts?.added ?? 0) : 0), 0)
        assert.deepStrictEqual([count("run"), count("writes")], [100, 2])
      }).pipe(Effect.provide(open()))
    }).pipe(Effect.scoped)
  )
}
