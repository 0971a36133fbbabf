/** On every layer, every read after a write shows what was written, also where the same was read just before. */
import { ContactFilter, ContactsService, EmailAddress } from "@roster/domain"
import { Effect, Equal, Predicate, Stream } from "effect"
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { eventually } from "../cases/Eventually.ts"
import { jsonRecordsOf, textOf } from "../jobs/ExportedFile.ts"
import { exportedSoon } from "../jobs/Exporting.ts"
import { file, imported, utf8 } from "../jobs/Importing.ts"
import { type Place, place } from "../cases/Place.ts"

/** Contacts as their local part and first name, in the order of the list. */
type Seen = ReadonlyArray<readonly [local: string, firstName: string]>

const seen = (contacts: ReadonlyArray<{ readonly email: string; readonly firstName?: string | undefined }>): Seen =>
  contacts.map(({ email, firstName }) => [email.split("@")[0] ?? "", firstName ?? ""])

const before: Seen = [
  ["ann", "before"],
  ["bob", "before"]
]

type Read = (at: Place) => Effect.Effect<Seen, unknown, ContactsService>

const reads: Readonly<Record<string, Read>> = {
  get: ({ email }) =>
    Effect.flatMap(ContactsService, (contacts) =>
      Effect.map(
        Effect.forEach(["ann", "bob", "cy"], (local) =>
          Effect.catchTag(contacts.get(email(local)), "ContactNotFound", () => Effect.undefined)
        ),
        (found) => seen(found.filter(Predicate.isNotUndefined))
      )
    ),
  list: ({ rule }) => Effect.flatMap(ContactsService, (contacts) => Effect.map(contacts.list({ rule }), seen)),
  "list, by a name": ({ where }) =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const named = (name: string) => contacts.list({ rule: where(`firstname = '${name}'`) })
      const found = seen([...(yield* named("before")), ...(yield* named("after"))])
      return found.toSorted(([a], [b]) => (a < b ? -1 : 1))
    }),
  stream: ({ rule }) =>
    Effect.flatMap(ContactsService, (contacts) => Effect.map(Stream.runCollect(contacts.stream({ rule })), seen)),
  export: ({ rule }) =>
    Effect.map(exportedSoon({ filter: ContactFilter.ByRule({ rule }), fileFormat: "Json" }), (content) =>
      seen(
        jsonRecordsOf(textOf(content)).map((record) => ({
          email: String(record["Email"]),
          firstName: String(record["FirstName"])
        }))
      )
    )
}

interface Write {
  readonly run: (at: Place, contacts: ContactsService["Service"]) => Effect.Effect<unknown, unknown, ContactsService>
  readonly after: Seen
}

const writes: Readonly<Record<string, Write>> = {
  "the add of a new contact": {
    run: ({ email }, contacts) => contacts.add([{ email: email("cy"), firstName: "after" }]),
    after: [...before, ["cy", "after"]]
  },
  "the add of a contact that exists": {
    run: ({ email }, contacts) => contacts.add([{ email: email("ann"), firstName: "after" }]),
    after: [
      ["ann", "after"],
      ["bob", "before"]
    ]
  },
  "an add without its answer": {
    run: ({ email }, contacts) =>
      contacts.addWithoutAnswer(["bob", "cy"].map((local) => ({ email: email(local), firstName: "after" }))),
    after: [
      ["ann", "before"],
      ["bob", "after"],
      ["cy", "after"]
    ]
  },
  "an update": {
    run: ({ email }, contacts) => contacts.update(email("ann"), { firstName: "after" }),
    after: [
      ["ann", "after"],
      ["bob", "before"]
    ]
  },
  "an update by another spelling": {
    run: ({ email }, contacts) =>
      contacts.update(EmailAddress.make(email("bob").toUpperCase()), { firstName: "after" }),
    after: [
      ["ann", "before"],
      ["bob", "after"]
    ]
  },
  "a delete": {
    run: ({ email }, contacts) => contacts.delete(email("ann")),
    after: [["bob", "before"]]
  },
  "a delete of several": {
    run: ({ email }, contacts) =>
      contacts.deleteMany(ContactFilter.ByEmails({ emails: [email("ann"), email("nobody")] })),
    after: [["bob", "before"]]
  },
  "an import": {
    run: ({ email, rule }, contacts) =>
      Effect.andThen(
        contacts.import(file(utf8(`Email,FirstName\n${email("ann")},after\n${email("cy")},after\n`))),
        imported(rule, 3)
      ),
    after: [
      ["ann", "after"],
      ["bob", "before"],
      ["cy", "after"]
    ]
  }
}

/** A service that reads the rule otherwise deletes other contacts. */
const byRule: Write = {
  run: ({ where }, contacts) => contacts.deleteMany(ContactFilter.ByRule({ rule: where("email starts-with 'ann@'") })),
  after: [["bob", "before"]]
}

const check = (read: Read, name: string, { after, run }: Write) =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const at = place()
    yield* contacts.add(before.map(([local, firstName]) => ({ email: at.email(local), firstName })))
    // Each export is a new file, so there is none from before that could be served again.
    if (read !== reads["export"]) assert.deepStrictEqual(yield* read(at), before, "before")
    yield* run(at, contacts)
    // Nobody is told when the rows of an import are there: a read may be behind for a while, and no longer.
    const now =
      name === "an import" ? yield* eventually(read(at), (found) => Equal.equals(found, after)) : yield* read(at)
    assert.deepStrictEqual(now, after, "after")
  })

export const readAfterWriteConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: reads after writes", () => {
    for (const [what, read] of Object.entries(reads)) {
      for (const [name, write] of Object.entries(writes)) {
        it.effect(`${what} after ${name}`, () => check(read, name, write))
      }
      it.needing("own-account").effect(`${what} after a delete by a rule`, () => check(read, "", byRule))
    }
  })
}
