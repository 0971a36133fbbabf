/** Stores that the command line of each step made then, and what is in them now. */
import { ContactsService, ListsService } from "@roster/domain"
import { Effect, FileSystem, Path } from "effect"
import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const folder = join(import.meta.dirname, "steps")

/**
 * The steps of which an engine has a store, from the first. On SQLite the steps between were never the last of a version; a
 * store of PostgreSQL is one of those, which the command line of its step restored there.
 */
export const stepsOf = (engine: "sqlite" | "postgres"): ReadonlyArray<number> =>
  globSync(join(folder, engine, "*.sql"))
    .map((file) => Number(basename(file, ".sql")))
    .toSorted((one, other) => one - other)

/** The statements that make the store of a step. */
export const textOf = (engine: "sqlite" | "postgres", step: number): string =>
  readFileSync(join(folder, engine, `${step}.sql`), "utf8")

/** Makes the store of a step, with rows of its own beside, and gives its path. */
export const olderStore = Effect.fnUntraced(function* (step: number, more = "") {
  const fs = yield* FileSystem.FileSystem
  const filename = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "roster.db")
  using database = new DatabaseSync(filename, { enableForeignKeyConstraints: false })
  database.exec(`PRAGMA journal_mode = WAL; ${textOf("sqlite", step)}${more}`)
  return filename
})

/** The custom fields of its contacts, as they were imported, and as they are since step 15. */
const imported = [
  { City: "Bonn", city: "Rome", plan: "pro" },
  { City: "Oslo", city: "Oslo" },
  { city: "Lima", plan: "free" }
] as const
const separated = [{ City: "Bonn", city_2: "Rome", plan: "pro" }, { City: "Oslo" }, { city: "Lima", plan: "free" }]
const sinceThen = [{ City: "Bonn", plan: "pro" }, { City: "Oslo" }, { plan: "free" }]

/** What there is of the contacts after an upgrade, and who is on the list. */
export const upgraded = (step: number): unknown => {
  const [ann, bob, cleo] = step < 15 ? separated : sinceThen
  const contacts = [
    { email: "Ann@Example.com", firstName: "Ann", lastName: "Müller", status: "Active", customFields: ann },
    { email: "bob@example.com", firstName: "Bob", lastName: undefined, status: "Unsubscribed", customFields: bob },
    { email: "cleo@example.com", firstName: "Cleo", lastName: "Ibsen", status: "Bounced", customFields: cleo },
    {
      email: "dan@example.com",
      firstName: undefined,
      lastName: undefined,
      status: "Active",
      customFields: { Stadt: "Köln" }
    }
  ]
  return { contacts, onList: ["Ann@Example.com", "bob@example.com", "cleo@example.com"] }
}

/** The same of the store of a layer. */
export const content = Effect.gen(function* () {
  const contacts = yield* (yield* ContactsService).list()
  const onList = yield* (yield* ListsService).contacts("News")
  const found: unknown = {
    contacts: contacts.map(({ customFields, email, firstName, lastName, status }) => ({
      email,
      firstName,
      lastName,
      status,
      customFields
    })),
    onList: onList.map(({ email }) => email)
  }
  return found
})

/** The custom fields in the file of a store, in the order of its contacts. */
export const storedFields = (filename: string): ReadonlyArray<unknown> => {
  using database = new DatabaseSync(filename, { readOnly: true })
  return database
    .prepare("SELECT custom_fields FROM contacts ORDER BY id")
    .all()
    .map(({ custom_fields }) => JSON.parse(String(custom_fields)))
}

/** What there was before. */
export const before = (step: number) => [...(step < 15 ? imported : sinceThen), { Stadt: "Köln" }]
