/** The store notes each status and consent that is given, whoever gives it. (docs/decisions/history.md) */
import { assert, describe, it } from "@effect/vitest"
import {
  ContactsService,
  ContactStatus,
  CredentialName,
  CredentialsService,
  EmailAddress,
  isMailedStatus,
  NamedRun,
  RunsService
} from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Arbitrary, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../../../server/src/credentials/Caller.ts"
import * as SqlRunsService from "../../../server/src/services/SqlRunsService.ts"
import { describePostgres, freshDatabase } from "../postgres/TestPostgres.ts"

const emails = ["ann@example.com", "bob@example.com"].map((email) => EmailAddress.make(email))

const Step = Schema.Struct({
  email: Schema.Literals([0, 1]),
  way: Schema.Literals(["POST", "add", "change", "another program", "delete"]),
  status: ContactStatus,
  ip: Schema.Literals(["", "192.0.2.1", "192.0.2.2"]),
  resubscribe: Schema.Boolean
})
type Step = typeof Step.Type

const take = Effect.fnUntraced(function* ({ email: at, ip, resubscribe, status, way }: Step) {
  const contacts = yield* ContactsService
  const sql = yield* SqlClient.SqlClient
  const email = emails[at] ?? EmailAddress.make("none@example.com")
  const consent = ip === "" ? {} : { consent: { ip } }
  switch (way) {
    case "POST":
      return yield* contacts.add([{ email, status, ...consent }])
    case "add":
      return yield* contacts.add([{ email, status, ...consent }], { resubscribe })
    case "change":
      return yield* contacts.change([
        { email, seen: yield* contacts.get(email), write: { status, resubscribe, ...consent } }
      ])
    case "another program":
      return yield* sql`UPDATE contacts SET status = ${status} WHERE identity = ${email}`
    case "delete":
      return yield* contacts.delete(email)
  }
})

const look = Effect.fnUntraced(function* () {
  const contacts = yield* ContactsService
  return yield* Effect.forEach(emails, (email) => Effect.orElseSucceed(contacts.get(email), () => undefined))
})

interface Noted {
  readonly identity: string
  readonly field: string
  readonly was: string | null
  readonly becomes: string | null
  readonly key_name: string | null
  readonly run: string | null
}

/** Walks the steps by a key in a run, and compares what is noted with what a reader saw before and after. */
const walk = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const sql = yield* SqlClient.SqlClient
  const name = CredentialName.make("web")
  yield* (yield* CredentialsService).apiKeys.create({ name, accessLevels: ["ModifyContacts", "ViewContacts"] })
  const [row] = yield* sql<{ readonly id: number }>`SELECT id FROM credentials WHERE name = 'web'`
  const key = { id: Number(row?.id), name: "web", hint: "", level: "ModifyContacts", mayViewContacts: true } as const
  const byKey = Effect.provideService(Caller, { account: "", key })
  const { id: run } = yield* byKey((yield* RunsService).begin({ command: "test" }))
  const expected: Array<Noted> = []
  for (const step of steps) {
    const before = yield* look()
    yield* take(step).pipe(
      Effect.provideService(NamedRun, run),
      byKey,
      Effect.catchTag("ContactNotFound", () => Effect.void)
    )
    const after = yield* look()
    for (const [at, now] of after.entries()) {
      const was = before[at]
      if (now === undefined) continue
      const isOurs = step.way !== "another program"
      const note = (field: string, was: string | null = null, becomes: string | null = null) =>
        expected.push({
          identity: now.email,
          field,
          was,
          becomes,
          key_name: isOurs ? "web" : null,
          run: isOurs ? run : null
        })
      if (was === undefined) {
        if (!isMailedStatus(now.status)) note("status", null, now.status)
        continue
      }
      const isAgain = was.statusChangeDate?.epochMilliseconds !== now.statusChangeDate?.epochMilliseconds
      if (was.status !== now.status || isAgain) note("status", was.status, now.status)
      const [oldIp = null, newIp = null] = [was, now].map(({ consent }) => consent?.ip ?? null)
      if (oldIp !== newIp) note("consent_ip", oldIp, newIp)
    }
  }
  const noted = yield* sql<Noted>`
    SELECT identity, field, was, becomes, key_name, run FROM status_changes WHERE field IN ('status', 'consent_ip') ORDER BY number`
  assert.deepStrictEqual(
    noted.map((row) => ({ ...row })),
    expected
  )
})

const withRuns = <A, E>(services: Layer.Layer<A | SqlClient.SqlClient, E>) =>
  Layer.provideMerge(SqlRunsService.layer, services)

const courses = { steps: Arbitrary.array(Arbitrary.schema(Step), { minLength: 5, maxLength: 12 }) }

describe("statuses and consents that are given", () => {
  it.live.prop(
    "are noted on SQLite",
    courses,
    ({ steps }) => Effect.provide(walk(steps), withRuns(SqlServices.layerWithStore({ filename: ":memory:" }))),
    { arbitrary: { runs: 25 } }
  )
})

describePostgres("statuses and consents that are given", () => {
  it.live.prop(
    "are noted on PostgreSQL",
    courses,
    ({ steps }) =>
      Effect.flatMap(freshDatabase, (url) =>
        Effect.provide(walk(steps), withRuns(SqlServices.layerPostgres({ postgres: { url } })))
      ).pipe(Effect.scoped),
    { arbitrary: { runs: 5 } }
  )
})
