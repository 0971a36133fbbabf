/**
 * A process that makes planned writes through the services of a store, and prints which were acknowledged and which
 * were refused. `node` runs it under `strace` with these arguments: the file, the first number, the last number, how to
 * end (`close` or `kill`), and SQLite pragmas to apply.
 */
import { ContactFilter, ContactsService, EmailAddress } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { writeSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { plannedWrite } from "./WrittenPlan.ts"

const [, script = "", filename = "", first = "1", last = "0", end = "close", ...settings] = process.argv

/** One system call, so that the trace orders it among those of the store. */
const say = (text: string) => Effect.sync(() => void writeSync(1, `${text}\n`))

const write = Effect.fnUntraced(function* (number: number) {
  const contacts = yield* ContactsService
  const planned = plannedWrite(number)
  yield* say(`sent ${number}`)
  yield* planned._tag === "Add"
    ? contacts.add(
        planned.emails.map((email) => ({ email: EmailAddress.make(email), customFields: { mark: planned.mark } }))
      )
    : contacts.deleteMany(ContactFilter.ByEmails({ emails: planned.emails }))
  yield* say(`done ${number}`)
})

const program = Effect.fnUntraced(function* (first: number, last: number) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(settings, (setting) => sql`${sql.literal(`PRAGMA ${setting}`)}`, { discard: true })
  for (let number = first; number <= last; number++) {
    yield* write(number).pipe(
      Effect.catchTag("ServiceError", (error) =>
        say(`${error.reason._tag === "OutcomeUnknown" ? "unknown" : "refused"} ${number}: ${error.message}`)
      )
    )
  }
  const { list } = yield* ContactsService
  const page = yield* list({ limit: 1000 })
  yield* say(`reads ${page.length}`)
  if (end === "kill") process.kill(process.pid, "SIGKILL")
})

if (import.meta.url === pathToFileURL(script).href) {
  const options = { filename, allowedSenders: ["*@example.com"] }
  await Effect.runPromise(
    program(Number(first), Number(last)).pipe(Effect.provide(SqlServices.layerWithStore(options)))
  )
}
