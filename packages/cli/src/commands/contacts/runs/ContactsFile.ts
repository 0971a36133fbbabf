/** All contacts of a service that cannot be asked for many addresses, in a private temporary file of SQLite. */
import { ServiceError, StoreFailure } from "@roster/domain"
import type { ContactSnapshot } from "@roster/workflows"
import { Effect } from "effect"
import { DatabaseSync } from "node:sqlite"
import { temporaryPath } from "../../../files/TemporaryFile.ts"

const failed = () =>
  new ServiceError({
    operation: "contactsGet",
    reason: new StoreFailure({ detail: "the temporary file of the contacts as they were cannot be used" })
  })

/** What is lost with the process needs no journal. */
const schema = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
  CREATE TABLE contacts (email TEXT PRIMARY KEY, contact TEXT NOT NULL) WITHOUT ROWID`

/** A snapshot whose file comes into being with the first contact, and goes with the scope. */
export const contactsFile = Effect.gen(function* () {
  const open = Effect.gen(function* () {
    const file = yield* temporaryPath("contacts")
    const database = yield* Effect.acquireRelease(
      Effect.try(() => new DatabaseSync(file)),
      (opened) => Effect.sync(() => opened.close())
    )
    return yield* Effect.try(() => {
      database.exec(schema)
      return {
        database,
        insert: database.prepare("INSERT OR REPLACE INTO contacts VALUES (?, ?)"),
        find: database.prepare("SELECT contact FROM contacts WHERE email = ?")
      }
    })
  })
  const services = yield* Effect.context<Effect.Services<typeof open>>()
  const opened = yield* Effect.cached(Effect.mapError(Effect.provideContext(open, services), failed))
  const attempt = <A>(use: (on: Effect.Success<typeof open>) => A) =>
    Effect.flatMap(opened, (on) => Effect.try({ try: () => use(on), catch: failed }))
  const snapshot: ContactSnapshot = {
    put: (contacts) =>
      attempt(({ database, insert }) => {
        database.exec("BEGIN")
        for (const [email, contact] of contacts) insert.run(email, contact)
        database.exec("COMMIT")
      }),
    get: (emails) =>
      attempt(({ find }) =>
        emails.map((email) => {
          const contact = find.get(email)?.["contact"]
          return typeof contact === "string" ? contact : undefined
        })
      )
  }
  return snapshot
})
