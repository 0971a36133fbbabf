/**
 * Contacts that are at their bounds, or larger because an earlier version wrote them, and imports of rows beyond the bounds.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  ContactSize,
  ContactsService,
  EmailAddress,
  maximumListsOfContact,
  readContacts,
  rejectedRowsFile
} from "@roster/domain"
import { importContacts, RunLog } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { csvOf, textOf as exportedText } from "../../src/conformance/jobs/ExportedFile.ts"
import { exported } from "../../src/conformance/jobs/Exporting.ts"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { refused } from "../../src/conformance/cases/Refused.ts"
import { ended, importText, textOf, working } from "./StoreWithJobs.ts"

const { maximumContactBytes, maximumCustomFields } = ContactSize

const fields = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, value]))

const manyFields = fields(maximumCustomFields + 50, "v")
const longText = { note: "x".repeat(2 * maximumContactBytes) }
const many = EmailAddress.make("many@example.com")
const long = EmailAddress.make("long@example.com")

/** Writes contacts as a version without bounds did. */
const arrange = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [email, customFields] of [
    [many, manyFields],
    [long, longText]
  ] as const) {
    const custom_fields = JSON.stringify(customFields)
    const date_added = 1_700_000_000
    yield* sql`INSERT INTO contacts ${sql.insert({ account: "", identity: email, email, status: "Active", custom_fields, source: "ContactApi", date_added })}`
  }
  return yield* ContactsService
})

describe("a contact that is larger than the bounds", () => {
  it.live("can be read, listed, found, exported and deleted", () =>
    Effect.gen(function* () {
      const contacts = yield* arrange
      assert.deepStrictEqual((yield* contacts.get(many)).customFields, manyFields)
      const listed = yield* contacts.list()
      assert.deepStrictEqual(
        listed.map(({ customFields }) => customFields),
        [manyFields, longText]
      )
      const rows = csvOf(exportedText(yield* exported({})))
      assert.deepStrictEqual(
        rows.map((cells) => cells.includes(longText.note) || cells.filter((cell) => cell === "v").length),
        [0, maximumCustomFields + 50, true]
      )
      yield* contacts.delete(many)
      yield* contacts.delete(long)
      assert.deepStrictEqual(yield* contacts.list(), [])
    }).pipe(Effect.provide(working))
  )

  it.live("can be changed if it gets no larger", () =>
    Effect.gen(function* () {
      const contacts = yield* arrange
      assert.strictEqual((yield* contacts.update(many, { firstName: "Ann" })).firstName, "Ann")
      const [again] = yield* contacts.add([{ email: many, status: "Stale", customFields: { f0: "changed" } }])
      assert.deepStrictEqual(again?.customFields, { ...manyFields, f0: "changed" })
      yield* refused(contacts.update(many, { customFields: { another: "x" } }), "InvalidInput")
      yield* refused(contacts.add([{ email: many, customFields: { another: "x" } }]), "InvalidInput")

      yield* refused(contacts.update(long, { firstName: "Ann" }), "InvalidInput")
      const shorter = { note: "y".repeat(maximumContactBytes - 1000) }
      assert.deepStrictEqual((yield* contacts.update(long, { customFields: shorter })).customFields, shorter)
      assert.strictEqual((yield* contacts.update(long, { firstName: "Ann" })).firstName, "Ann")
    }).pipe(Effect.provide(working))
  )

  it.live("is rejected by its line when its export is imported again", () =>
    Effect.gen(function* () {
      const contacts = yield* arrange
      yield* contacts.add([{ email: EmailAddress.make("small@example.com"), firstName: "Bo" }])
      const before = yield* contacts.list()
      const text = exportedText(yield* exported({}))
      yield* importText(text)
      const job = yield* ended
      assert.deepInclude(job, { state: "Ready", accepted: 1, rejected: 2, rejectedKept: 2, duplicates: 0 })
      const rejected = csvOf(yield* textOf(rejectedRowsFile(job.id)))
      assert.deepStrictEqual(
        rejected.slice(1).map((cells) => cells.at(-1)?.replace(/,.*/, "")),
        [
          "CustomFields: a contact has at most 250 custom fields",
          "CustomFields: a contact has at most 32768 bytes of JSON"
        ]
      )
      assert.deepStrictEqual((yield* contacts.list()).slice(0, 2), before.slice(0, 2))
    }).pipe(Effect.provide(working))
  )
})

describe("a contact on as many lists as one can be", () => {
  it.live("is rejected by an import into another list, with a reason in the form of all others", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const listNames = Array.from({ length: maximumListsOfContact }, (_, index) => `list ${index}`)
      yield* contacts.add([{ email: many }], { listNames })
      yield* contacts.add([{ email: long }], { listNames: ["another"] })
      yield* contacts.import(file(utf8(`Email\n${many}\n${long}\n`)), { listName: "another" })
      const job = yield* ended
      assert.deepInclude(job, { state: "Ready", accepted: 1, rejected: 1 })
      const [, ...rejected] = csvOf(yield* textOf(rejectedRowsFile(job.id)))
      assert.deepStrictEqual(rejected, [[many, "listName: the contact would be on more than 100 lists"]])
    }).pipe(Effect.provide(working))
  )
})

describe("a contact of 1.5 MB", () => {
  const huge = EmailAddress.make("huge@example.com")
  const small = EmailAddress.make("small@example.com")
  const store = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const custom_fields = JSON.stringify(fields(30_000, "x".repeat(40)))
    yield* sql`INSERT INTO contacts ${sql.insert({ account: "", identity: huge, email: huge, status: "Active", custom_fields, source: "ContactApi", date_added: 1_700_000_000 })}`
    return yield* ContactsService
  })

  it.live("is not merged with the rows of an add or an import, and changes only alone", () =>
    Effect.gen(function* () {
      const contacts = yield* store
      const before = yield* contacts.get(huge)
      const error = yield* refused(
        contacts.add([
          { email: small },
          ...Array.from({ length: 999 }, () => ({ email: huge, status: "Stale" as const }))
        ]),
        "InvalidInput"
      )
      assert.match(
        error.message,
        /^Invalid \[1\]\.customFields: with what is stored,.*change a contact that is already larger alone/
      )
      yield* importText(`Email,f1\n${small},a\n${huge},b\n${huge},c\n`)
      assert.deepInclude(yield* ended, { state: "Ready", accepted: 1, rejected: 2, rejectedKept: 2 })
      assert.deepStrictEqual(yield* contacts.get(huge), before)
      assert.strictEqual(
        (yield* contacts.update(huge, { customFields: { f1: "shorter" } })).customFields?.["f1"],
        "shorter"
      )
      yield* contacts.delete(huge)
    }).pipe(Effect.provide(working))
  )

  it.live("is named by an import of its export, which imports the others", () =>
    Effect.gen(function* () {
      const contacts = yield* store
      yield* contacts.add([{ email: small, firstName: "Bo" }])
      const backup = utf8(exportedText(yield* exported({ fileFormat: "Json" })))
      yield* contacts.delete(huge)
      yield* contacts.delete(small)
      const report = yield* importContacts(readContacts(Stream.succeed(backup))).pipe(
        Effect.provide(RunLog.layerMemory())
      )
      assert.deepInclude(report, { read: 2, new: 1, notSent: 0, unknown: 0 })
      assert.deepStrictEqual(
        report.rejectedRows.map(({ email, reason }) => [email, reason.replace(/^.*: /, "")]),
        [[undefined, "an object in it has more than 1000 names"]]
      )
      assert.strictEqual((yield* contacts.get(small)).firstName, "Bo")
    }).pipe(Effect.provide(working))
  )
})

describe("an import", () => {
  it.live("rejects rows of 16,000 custom fields, and rows that would make a contact too large, by their lines", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const names = Array.from({ length: 16_000 }, (_, index) => `f${index}`)
      const cells = (from: number, to: number) =>
        names.map((_, index) => (index >= from && index < to ? "v" : "")).join(",")
      const file = [
        `Email,${names.join(",")}`,
        `many@example.com,${cells(0, 16_000)}`,
        `many@example.com,${cells(0, 16_000)}`,
        `ann@example.com,${cells(0, 200)}`,
        `ann@example.com,${cells(200, 300)}`,
        `nobody,${cells(0, 1)}`,
        `Ann@example.com,${cells(50, 250)}`
      ]
      yield* importText(file.join("\n"))
      const job = yield* ended
      assert.deepInclude(job, { state: "Ready", rowsDone: 6, accepted: 2, rejected: 4, duplicates: 1 })
      const sql = yield* SqlClient.SqlClient
      const lines = yield* sql`SELECT line FROM job_rejections ORDER BY rowid`.values
      assert.deepStrictEqual(lines, [[2], [3], [5], [6]])
      assert.deepStrictEqual(
        (yield* contacts.list()).map(({ customFields, email }) => [email, Object.keys(customFields ?? {}).length]),
        [["ann@example.com", maximumCustomFields]]
      )
    }).pipe(Effect.provide(working))
  )
})
