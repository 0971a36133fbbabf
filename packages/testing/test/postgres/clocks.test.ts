/** Processes on one PostgreSQL whose clocks differ: the store goes by the clock of the database alone. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { ContactsService, CredentialName, CredentialsService, EmailAddress, JobKind, RuleText } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { awaitExport } from "@roster/workflows"
import { Context, DateTime, type Duration, Effect, Exit, Layer, Logger, Redacted, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { advanceJob, claimJob, createJob, renewLease } from "../../../server/src/jobs/queue/JobQueue.ts"
import { removeExpired } from "../../../server/src/jobs/worker/JobCleanup.ts"
import * as Store from "../../../server/src/store/Store.ts"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { ServedRoster, servedOn } from "../../src/index.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { ShiftedClock } from "../jobs/ShiftedClock.ts"
import { textOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** What a process of a layer has, whose clock is ahead. Calls in its context are made by its clock too. */
const processOf = Effect.fnUntraced(function* <A, E>(
  layer: Layer.Layer<A, E>,
  ahead: Duration.Input,
  log: Array<string> = []
) {
  const logger = Logger.layer([Logger.make(({ message }) => void log.push(String(message)))])
  const clock = yield* Layer.build(Layer.fresh(ShiftedClock.layer))
  yield* Context.get(clock, ShiftedClock).advance(ahead)
  const process = yield* Layer.build(
    Layer.fresh(Layer.provide(layer, Layer.merge(logger, Layer.succeedContext(clock))))
  )
  return Context.merge(process, clock)
})

const wait = { schedule: Schedule.spaced("20 millis"), limit: "2 minutes" } as const

const secondsFrom = (date: DateTime.Utc | null | undefined) =>
  date == null ? NaN : Math.abs(DateTime.toEpochMillis(date) - Date.now()) / 1000

describePostgres("processes whose clocks differ by", () => {
  for (const ahead of ["45 seconds", "-45 seconds", "1 day", "-1 day"] as const) {
    it.live(`${ahead} take no job from each other`, () =>
      Effect.gen(function* () {
        const store = Store.layerPostgres({ url: yield* freshDatabase })
        const right = yield* processOf(store, 0)
        const wrong = yield* processOf(store, ahead)
        for (const kind of JobKind.literals) {
          for (const [holder, other] of [
            [right, wrong],
            [wrong, right]
          ] as const) {
            const id = crypto.randomUUID()
            yield* createJob({ id, account: id, kind, state: "Loading", request: "{}" }).pipe(
              Effect.provideContext(holder)
            )
            const job = yield* Effect.provideContext(claimJob("holder"), holder)
            assert.strictEqual(job?.id, id)
            if (job === undefined) return
            for (const step of [renewLease(job), advanceJob(job, { rows_done: 1, accepted: 0 })]) {
              assert.isUndefined(yield* Effect.provideContext(claimJob("other"), other), `${kind} was taken`)
              assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.provideContext(step, holder))))
            }
            assert.isUndefined(yield* Effect.provideContext(claimJob("other"), other), `${kind} was taken`)
          }
        }
      }).pipe(Effect.scoped)
    )

    it.live(`${ahead} keep what the others made, and date what they write alike`, () =>
      Effect.gen(function* () {
        const services = SqlServices.layerPostgres({ postgres: { url: yield* freshDatabase } })
        const right = yield* processOf(services, 0)
        const wrong = yield* processOf(services, ahead)
        const contacts = yield* Effect.provideContext(ContactsService, right)
        const rows = 3000
        const text = `Email\n${Array.from({ length: rows }, (_, row) => `c${row}@example.com\n`).join("")}`
        yield* Effect.provideContext(contacts.import(file(utf8(text))), right)
        const count = Effect.provideContext(
          SqlClient.SqlClient.use(
            (sql) => sql<{ readonly state: string; readonly accepted: number }>`
            SELECT state, accepted FROM jobs WHERE kind = 'Import'`
          ),
          right
        )
        const [ended] = yield* eventually(count, ([job]) => job?.state !== "Loading")
        assert.deepStrictEqual({ ...ended }, { state: "Ready", accepted: rows })

        const link = yield* Effect.provideContext(contacts.export({}, { idempotencyKey: "one" }), right)
        yield* Effect.provideContext(awaitExport(link.id, wait), right)
        for (const process of [wrong, right]) {
          yield* Effect.gen(function* () {
            yield* removeExpired
            const service = yield* ContactsService
            assert.strictEqual(yield* service.exportStatus(link.id), "Ready")
            const bytes = yield* Stream.runCollect(service.download(link.link))
            assert.strictEqual(textOf(Buffer.concat(bytes)).trim().split("\n").length, rows + 1)
            assert.deepStrictEqual(yield* service.export({}, { idempotencyKey: "one" }), link)

            const email = EmailAddress.make(`${crypto.randomUUID()}@example.com`)
            const [added] = yield* service.add([{ email }])
            assert.isBelow(secondsFrom(added?.dateAdded), 20)
            assert.isBelow(secondsFrom((yield* service.update(email, { firstName: "A" })).dateUpdated), 20)
            const rule = RuleText.make(`Email = '${email}' AND ContactAge = 0`)
            assert.lengthOf(yield* service.list({ rule }), 1)
            const { apiKeys } = yield* CredentialsService
            const key = yield* apiKeys.create({ name: CredentialName.make(email), accessLevels: ["ViewContacts"] })
            assert.isBelow(secondsFrom(key.dateCreated), 20)
          }).pipe(Effect.provideContext(process))
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  }

  it.live("a day let a key expire by the clock of the database, and a start says it", () =>
    Effect.gen(function* () {
      const postgres = { url: yield* freshDatabase }
      const right = yield* processOf(servedOn({ postgres }), 0)
      const said: Array<string> = []
      const wrongs = yield* Effect.forEach(["1 day", "-1 day"] as const, (ahead) =>
        processOf(servedOn({ postgres }), ahead, said)
      )
      assert.match(said.join("\n"), /^this machine is 864\d\d s ahead of the database/m)
      assert.match(said.join("\n"), /^this machine is 86[34]\d\d s behind the database/m)
      const { apiKeys } = yield* Effect.provideContext(CredentialsService, right)
      const now = yield* DateTime.now
      const expires = DateTime.add(now, { hours: 1 })
      const accessLevels = ["ViewContacts"] as const
      const [name, gone] = [CredentialName.make("an hour"), CredentialName.make("gone")]
      const live = yield* apiKeys.create({ name, expires, accessLevels })
      const old = yield* apiKeys.create({ name: gone, expires, accessLevels })
      const sql = yield* Effect.provideContext(SqlClient.SqlClient, yield* Layer.build(Store.layerPostgres(postgres)))
      yield* sql`UPDATE credentials SET expires = ${Math.floor(Date.now() / 1000) - 60} WHERE name = 'gone'`
      for (const process of [right, ...wrongs]) {
        const { baseUrl } = Context.get(process, ServedRoster)
        const status = (token: Redacted.Redacted<string>) =>
          Effect.promise(async () => {
            const headers = { "X-Service-ApiKey": Redacted.value(token) }
            return (await fetch(`${baseUrl}/contacts`, { headers })).status
          })
        assert.strictEqual(yield* status(live.token), 200)
        assert.strictEqual(yield* status(old.token), 401)
      }
      const uses = yield* sql<{ readonly last_use: number }>`
        SELECT last_use FROM credential_uses`
      assert.isBelow(Math.abs(Number(uses[0]?.last_use) - Date.now() / 1000), 20)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
