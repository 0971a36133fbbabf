/**
 * What one account may keep in a store: at each bound a call succeeds, and beyond it every layer refuses with the same
 * words and does nothing. The stores are filled from outside, so that a test of 4 GiB writes some bytes.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  EmailMessage,
  EmailsService,
  ServiceError
} from "@roster/domain"
import { Effect, type Layer, type Scope } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"

const gibibyte = 1024 ** 3

const now = () => Math.floor(Date.now() / 1000)

/** A store that is filled beside the service. */
export interface FilledStore {
  readonly services: Layer.Layer<ContactsService | CredentialsService | EmailsService, unknown>
  /** Runs statements. */
  readonly change: (statements: string) => Effect.Effect<void, unknown>
  /** The first row of a query. */
  readonly look: (query: string) => Effect.Effect<Readonly<Record<string, unknown>> | undefined, unknown>
}

/** Jobs that a process of another machine runs. */
const elsewhere = (jobs: number) => `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${jobs})
  INSERT INTO jobs (id, account, kind, state, request, lease, leased_until, created, expires)
  SELECT 'elsewhere' || i, '', 'Import', 'Loading', '{}', 'x 1 elsewhere', ${now() + 30}, ${now()}, ${now() + 9999} FROM n`

/** An export whose file has this size. */
const exported = (bytes: number) => `
  INSERT INTO jobs (id, account, kind, state, request, file_key, created, ended, expires, bytes)
  VALUES ('large', '', 'Export', 'Ready', '{}', 'large', ${now()}, ${now()}, ${now() + 3600}, ${bytes})`

/** Changes of credentials so many seconds ago, until an account has so many. */
const changed = (account: string, changes: number, age = 0) => `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${changes})
  INSERT INTO audit_entries (time, account, actor, actor_name, actor_hint, operation, outcome, details)
  SELECT ${now() - age}, '${account}', 'Owner', '', '', 'securityApikeysPost', 'Done', '{}' FROM n
  WHERE i <= ${changes} - (SELECT count(*) FROM audit_entries WHERE account = '${account}')`

const message = EmailMessage.make({
  recipients: [{ email: "someone@elsewhere.test" }],
  content: { from: "john@example.com", subject: "Hello", body: [{ contentType: "PlainText", content: "Hi" }] }
})

/** The refusal of a call beyond a bound. */
const limitOf = Effect.fnUntraced(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
  const error: unknown = yield* Effect.flip(call)
  if (!(error instanceof ServiceError) || error.reason._tag !== "RateLimited") {
    return assert.fail(`it failed with ${String(error)}`)
  }
  const { detail = "", retryAfter = 0 } = error.reason
  assert.strictEqual(error.message, `This account is at its limit: ${detail} Try again in ${retryAfter} s.`)
  return { detail, retryAfter }
})

/** The cases on one layer. Answers that are kept are measured by their bytes on PostgreSQL, which no test can fill. */
export const quotaCases = (
  name: string,
  filled: Effect.Effect<FilledStore, unknown, Scope.Scope>,
  hasSumOfAnswers: boolean
): void => {
  describe(`the limits of an account: ${name}`, () => {
    it.live("100 imports and exports wait or run, and 4 GiB in files of imports", () =>
      Effect.gen(function* () {
        const { change, look, services } = yield* filled
        yield* Effect.gen(function* () {
          const contacts = yield* ContactsService
          yield* change(elsewhere(99))
          yield* contacts.export()
          const limit = yield* limitOf(contacts.export())
          assert.match(limit.detail, /^100 of its imports and exports wait or run\..*cancel/)
          assert.strictEqual(limit.retryAfter, 120)
          assert.deepEqual(yield* limitOf(contacts.import(file(utf8("Email\n")))), limit)
          assert.strictEqual((yield* look("SELECT count(*) AS jobs FROM jobs"))?.["jobs"], 100)
          yield* change("DELETE FROM jobs WHERE id = 'elsewhere1'")
          yield* change(`UPDATE jobs SET bytes = ${4 * gibibyte - 1} WHERE id = 'elsewhere2'`)
          const full = yield* limitOf(contacts.import(file(utf8("Email\n"))))
          assert.match(full.detail, /^the files of its imports hold 4 GiB\..*cancel/)
          yield* change(`UPDATE jobs SET bytes = ${4 * gibibyte - 100} WHERE id = 'elsewhere2'`)
          yield* contacts.import(file(utf8("Email\n")))
        }).pipe(Effect.provide(services))
      }).pipe(Effect.scoped)
    )

    it.live("4 GiB in files of exports", () =>
      Effect.gen(function* () {
        const { change, look, services } = yield* filled
        yield* Effect.gen(function* () {
          const contacts = yield* ContactsService
          yield* change(exported(4 * gibibyte - 1024 * 1024))
          const fits = yield* contacts.export()
          yield* eventually(contacts.exportStatus(fits.id), (status) => status === "Ready")
          // There is room when it is asked for, and none for its file.
          yield* change("DELETE FROM jobs WHERE id <> 'large'")
          yield* change(`UPDATE jobs SET bytes = ${4 * gibibyte - 1} WHERE id = 'large'`)
          const tooLarge = yield* contacts.export()
          yield* eventually(contacts.exportStatus(tooLarge.id), (status) => status === "Error")
          const job = yield* look(`SELECT problem, bytes FROM jobs WHERE id = '${tooLarge.id}'`)
          assert.match(String(job?.["problem"]), /hold 4 GiB/)
          assert.strictEqual(job?.["bytes"], 0)
          assert.isUndefined(yield* look("SELECT part FROM job_parts"))
          yield* change(`UPDATE jobs SET bytes = ${4 * gibibyte} WHERE id = 'large'`)
          const limit = yield* limitOf(contacts.export())
          assert.match(limit.detail, /^the files of its exports hold 4 GiB\..*24 hours.*Zip/)
          // Until the first file has gone.
          assert.isAbove(limit.retryAfter, 3000)
          yield* contacts.import(file(utf8("Email\n")))
          yield* change("UPDATE jobs SET expires = 1 WHERE id = 'large'")
          yield* eventually(look("SELECT bytes FROM jobs WHERE id = 'large'"), (row) => row?.["bytes"] === 0)
          yield* contacts.export()
        }).pipe(Effect.provide(services))
      }).pipe(Effect.scoped)
    )

    it.live("100,000 messages or 2 GiB in the outbox", () =>
      Effect.gen(function* () {
        const { change, look, services } = yield* filled
        yield* Effect.gen(function* () {
          const emails = yield* EmailsService
          yield* change(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
             INSERT INTO outbox (message_id, transaction_id, account, message, created, bytes)
             SELECT 'm' || i, 't', '', '{}', 1, 2 FROM n`)
          yield* emails.send(message)
          const limit = yield* limitOf(emails.send(message))
          assert.match(limit.detail, /outbox/)
          yield* change(`DELETE FROM outbox WHERE message_id <> 'm1'`)
          yield* change(`UPDATE outbox SET bytes = ${2 * gibibyte - 10_000}`)
          yield* emails.send(message)
          yield* change(`UPDATE outbox SET bytes = ${2 * gibibyte}`)
          assert.deepEqual(yield* limitOf(emails.send(message)), limit)
          assert.strictEqual((yield* look("SELECT count(*) AS messages FROM outbox"))?.["messages"], 2)
        }).pipe(Effect.provide(services))
      }).pipe(Effect.scoped)
    )

    if (hasSumOfAnswers)
      it.live("1 GiB of answers to calls with an Idempotency-Key", () =>
        Effect.gen(function* () {
          const { change, services } = yield* filled
          yield* Effect.gen(function* () {
            const contacts = yield* ContactsService
            const add = (local: string) =>
              contacts.add([{ email: EmailAddress.make(`${local}@example.com`) }], {
                idempotencyKey: crypto.randomUUID()
              })
            const answers = (kept: number) => `
            DELETE FROM idempotent_answers;
            INSERT INTO idempotent_answers (account, call_key, request_digest, status, body, created, running)
            VALUES ('', 'first', x'00', 200, x'00', ${now()}, 7), ('', 'last', x'00', 200, x'00', ${now()}, ${7 + kept})`
            yield* change(answers(gibibyte - 1))
            yield* add("ann")
            yield* change(answers(gibibyte))
            const limit = yield* limitOf(add("bob"))
            assert.match(limit.detail, /Idempotency-Key/)
            assert.isAbove(limit.retryAfter, 60)
            assert.strictEqual((yield* contacts.list()).length, 1)
            // Those that nobody asks for again make room.
            yield* change(`UPDATE idempotent_answers SET created = created - 600 WHERE call_key = 'first'`)
            yield* add("bob")
            assert.strictEqual((yield* contacts.list()).length, 2)
          }).pipe(Effect.provide(services))
        }).pipe(Effect.scoped)
      )

    it.live("1000 changes of its credentials within an hour, and 1000 more than others of all accounts", () =>
      Effect.gen(function* () {
        const { change, look, services } = yield* filled
        yield* Effect.gen(function* () {
          const { apiKeys, smtp } = yield* CredentialsService
          const create = (name: string, subaccount?: string) =>
            apiKeys.create({
              name: CredentialName.make(name),
              accessLevels: ["ViewContacts"],
              ...(subaccount === undefined ? {} : { subaccount: EmailAddress.make(subaccount) })
            })
          const [one, two] = [CredentialName.make("one"), CredentialName.make("two")]
          yield* change(changed("old@example.com", 20_000, 3601))
          yield* create("zero", "old@example.com")
          yield* change(changed("", 998))
          yield* create("one")
          yield* apiKeys.update(one, { name: two, accessLevels: ["ViewContacts"] })
          const limit = yield* limitOf(apiKeys.update(two, { name: one, accessLevels: ["ViewContacts"] }))
          assert.match(limit.detail, /^its API keys and SMTP credentials were changed 1000 times.*still be deleted\.$/)
          assert.isAbove(limit.retryAfter, 3000)
          assert.isAtMost(limit.retryAfter, 3600)
          yield* limitOf(create("three"))
          yield* limitOf(smtp.create({ name: EmailAddress.make("login@example.com") }))
          // Whoever has used up the hour can be locked out in it.
          yield* apiKeys.delete(two)
          yield* limitOf(create("three"))
          const done = "SELECT count(*) AS entries FROM audit_entries WHERE account = '' AND outcome = 'Done'"
          assert.strictEqual((yield* look(done))?.["entries"], 1001)
          yield* create("three", "sub@example.com")
          // A subaccount that has used up its own hour leaves the main account another thousand.
          yield* change(changed("leaked@example.com", 1000))
          yield* create("rotated", "leaked@example.com")
          yield* change(changed("leaked@example.com", 2000))
          assert.match((yield* limitOf(create("more", "leaked@example.com"))).detail, /changed 2000 times/)
          yield* change(changed("other@example.com", 11_000 - 1001 - 2 - 2000 - 1))
          yield* create("four", "sub@example.com")
          const refused: unknown = yield* Effect.flip(create("five", "sub@example.com"))
          assert.match(String(refused), /all accounts were changed 11000 times within an hour/)
          yield* apiKeys.delete(CredentialName.make("four"), { subaccount: EmailAddress.make("sub@example.com") })
        }).pipe(Effect.provide(services))
      }).pipe(Effect.scoped)
    )
  })
}
