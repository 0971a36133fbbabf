/** Many callers whose writes name runs, on PostgreSQL: all lock the account, the run and the contacts in one order. */
import { assert, it } from "@effect/vitest"
import { ContactFilter, ContactsService, EmailAddress, ImportSource, NamedRun, RunsService } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Effect, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { amount, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const callers = 12
const calls = amount({ ci: 8, long: 100 })

describePostgres("writes of runs at once on PostgreSQL", () => {
  it.live(
    `of ${callers} callers who begin runs, write in them and undo them at once none waits for one who waits for it`,
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const random = seededRandom(runSeed("runs at once"))
        const below = (count: number) => Math.floor(random() * count)
        yield* Effect.gen(function* () {
          const contacts = yield* ContactsService
          const runs = yield* RunsService
          const begun = yield* Effect.forEach(["one", "two"], (input) => runs.begin({ command: "import", input }))
          let made = 0
          /** A call of a run on contacts of its own. Lists are made, for which the account is locked. */
          const someCall = (input: string, id: string) => {
            const list = `list ${made++ % 100}`
            const first = EmailAddress.make(`p${below(8)}@${input}.example.com`)
            const emails = [
              first,
              ...Array.from({ length: 4 }, () => EmailAddress.make(`p${below(8)}@${input}.example.com`))
            ] as const
            const filter = ContactFilter.ByEmails({ emails })
            const file = Stream.encodeText(Stream.make(["Email", ...emails].join("\n")))
            const all: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
              contacts.add(
                emails.map((email) => ({ email })),
                { listNames: [list] }
              ),
              contacts.change(emails.map((email) => ({ email, seen: null, write: { addToLists: [list] } }))),
              contacts.update(first, { firstName: list }),
              contacts.delete(first),
              contacts.deleteMany(filter),
              contacts.import(ImportSource.File({ name: "rows.csv", content: file })),
              runs.step(id, list),
              runs.erase(id, [1]),
              runs.begin({ command: "import", input }),
              runs.begin({ command: "undo", undoes: id })
            ]
            return Effect.provideService(
              Effect.suspend(() => all[below(all.length)] ?? Effect.void),
              NamedRun,
              id
            )
          }
          const caller = Effect.gen(function* () {
            for (let call = 0; call < calls; call++) {
              const index = below(2)
              const refusal = yield* someCall(index === 0 ? "one" : "two", begun[index]?.id ?? "").pipe(
                Effect.match({ onSuccess: () => undefined, onFailure: ({ _tag }) => _tag })
              )
              assert.include([undefined, "ContactNotFound", "RunTaken"], refusal)
            }
          })
          yield* Effect.all(
            Array.from({ length: callers }, () => caller),
            { concurrency: "unbounded" }
          )
        }).pipe(Effect.provide(SqlServices.layerPostgres({ postgres: { url } })))
        // A transaction that PostgreSQL ends for another one is repeated, and so its caller sees none of it. It is counted
        // when its connection has ended.
        const beside = yield* PostgresClient.make({ url })
        yield* eventually(
          beside`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
          (others) => others.length === 0
        )
        const counted = yield* beside`
          SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()`
        assert.deepStrictEqual<unknown>(counted, [{ deadlocks: 0 }])
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)),
    60_000
  )
})
