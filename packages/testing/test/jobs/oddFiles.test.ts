/**
 * Files in the shapes that people try to import, by the import of the service, by rows, and by an upload: what all accept
 * they store alike, and what one refuses the others refuse for the same reason. (docs/decisions/csv.md)
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactFilter, ContactsService, ImportSource, readContacts, rejectedRowsFile } from "@roster/domain"
import { unpacked } from "@roster/domain/PackedFile"
import { addRows, RunLog, importContacts } from "@roster/workflows"
import { Effect, Layer, Result, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { zipBytes } from "../hostile/ZipBytes.ts"
import { ended, textOf, working } from "./StoreWithJobs.ts"

const latin1 = (text: string) => Buffer.from(text, "latin1")
const ann = { Email: "ann@example.com", FirstName: "Ann" }
const plain = "Email,FirstName\nann@example.com,Ann\n"

const odd: ReadonlyArray<readonly [what: string, file: string | Uint8Array]> = [
  ["a column without a name", "Email,,FirstName,\nann@example.com,x,Ann,\nbob@example.com,,Bob,\n"],
  ["sep=", "sep=;\r\nEmail;FirstName\r\nann@example.com;Ann\r\n"],
  ["a comment above", `# exported 2024\n${plain}`],
  ["bars", "Email|FirstName\nann@example.com|Ann\n"],
  [
    "quotes in cells",
    'Email,FirstName,Note\nann@example.com,Ann "Annie" Lee,said "hi"\nbob@example.com,"B ""B""","two\nlines"\n'
  ],
  ["misplaced quotes", 'Email,FirstName\nann@example.com,"Ann" Lee\nbob@example.com,"Bob\ncem@example.com,Cem\n'],
  [
    "too many and too few cells",
    "Email,FirstName\nann@example.com,Ann,,\nbob@example.com,Bob,extra\ncid@example.com\n"
  ],
  ["addresses with names", 'Email\n"Ann <ann@example.com>"\nmailto:bob@example.com\n"c@example.com; d@example.com"\n'],
  [
    "characters that cannot be seen",
    "Email,FirstName\n\u00a0 ann@example.com\u00a0 ,Ann\nbob@example.com\u200b,Bob\n\u200bcem@example.com,Cem\n"
  ],
  [
    "words for a status",
    "Email,Status\nann@example.com,subscribed\nbob@example.com,unsubscribed\ncid@example.com,ACTIVE\n"
  ],
  ["another encoding", latin1("Email,FirstName\nann@example.com,Zo\xeb\n")],
  ["UTF-16 with a mark", Buffer.from(`\ufeff${plain.replaceAll(",", ";")}`, "utf16le")],
  ["UTF-16 without a mark", Buffer.from(plain, "utf16le")],
  [
    "JSON",
    JSON.stringify([ann, { Email: "bob@example.com", CustomFields: { city: "=1" }, town: 7 }, { Email: "nobody" }])
  ],
  [
    "JSON on many lines",
    JSON.stringify([ann, { Email: "bob@example.com", Consent: { ConsentIP: "192.0.2.1" } }], null, 2)
  ],
  ["NDJSON", `${JSON.stringify(ann)}\n{"Email":"bob@example.com","tags":["x"]}\n{"Email":"cem@example.com"}\n`],
  ["NDJSON that breaks off", `${JSON.stringify(ann)}\n{"Email":"bob@`],
  ["gzip", gzipSync(plain)],
  ["gzip that breaks off", gzipSync(plain.repeat(9)).subarray(0, 40)],
  ["gzip of JSON", gzipSync(JSON.stringify([ann]))],
  ["zip", zipBytes([{ name: "a.csv", content: plain }])],
  [
    "two files in an archive",
    zipBytes([
      { name: "a.csv", content: plain },
      { name: "b.csv", content: plain }
    ])
  ],
  [
    "a workbook",
    zipBytes([
      { name: "[Content_Types].xml", content: "<Types/>" },
      { name: "xl/workbook.xml", content: "" }
    ])
  ],
  ["vCards", "BEGIN:VCARD\nVERSION:3.0\nEMAIL:ann@example.com\nEND:VCARD\n"],
  ["HTML", "<!doctype html>\n<title>Sign in</title>\n"],
  ["PDF", "%PDF-1.7\n"],
  ["a column of the service", "Email,Source,DateAdded,City\nann@example.com,x,y,Bonn\n"],
  ["formulas", "Email,Phone,Note\nann@example.com,+49 30,'=1+1\nbob@example.com,''=x,=2\n"],
  ["blank lines", "\n\nEmail,FirstName\n\nann@example.com,Ann\n , \n\n"],
  ["old line breaks", "Email,FirstName\rann@example.com,Ann\rbob@example.com,Bob\r"],
  ["names of objects", "Email,__proto__,constructor,5\nann@example.com,a,b,c\n"]
]

const store = Layer.merge(Layer.fresh(working), RunLog.layerMemory())

const bytesOf = (file: string | Uint8Array) => Stream.make(new Uint8Array(Buffer.from(file)))

/** What is stored, but for the times and the source, which say how it came. */
const stored = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const all = yield* Stream.runCollect(contacts.stream())
  return all
    .map(({ consent, customFields, email, firstName, lastName, status }) => ({
      email,
      status,
      firstName,
      lastName,
      customFields,
      consent
    }))
    .sort((one, other) => (one.email < other.email ? -1 : 1))
})

const byService = (file: string | Uint8Array) =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const source = ImportSource.File({ name: "odd", content: bytesOf(file), replayable: true })
    const refused = yield* Effect.result(contacts.import(source, {}))
    const failure = Result.isFailure(refused) ? refused.failure.message : undefined
    const job = failure === undefined ? yield* ended : undefined
    const rejected = job === undefined ? "" : yield* textOf(rejectedRowsFile(job.id))
    return {
      failure: failure ?? job?.problem ?? undefined,
      rejected: job?.rejected,
      file: rejected,
      stored: yield* stored
    }
  })

const byRows = (file: string | Uint8Array) =>
  Effect.gen(function* () {
    const added = yield* Effect.result(addRows(readContacts(unpacked(bytesOf(file)))))
    return {
      failure: Result.isFailure(added) ? added.failure.message : undefined,
      rejected: Result.isSuccess(added) ? added.success.rejected : undefined,
      reasons: Result.isSuccess(added) ? added.success.rejectedRows.map(({ reason }) => reason) : [],
      stored: yield* stored
    }
  })

const byUpload = (file: string | Uint8Array) =>
  Effect.gen(function* () {
    const done = yield* Effect.result(importContacts(readContacts(unpacked(bytesOf(file)))))
    return {
      failure: Result.isFailure(done) ? done.failure.message : undefined,
      rejected: Result.isSuccess(done) ? done.success.rejected : undefined,
      stored: yield* stored
    }
  })

/** Removes what an import has stored, so that one store serves for all files. */
const emptied = Effect.flatMap(ContactsService, (contacts) =>
  contacts.deleteMany(ContactFilter.ByRule({ rule: "All" }))
)

describe("an odd file", () => {
  it.live(
    "is stored alike, or refused alike, by the service, by rows and by an upload",
    () =>
      Effect.gen(function* () {
        const stores = yield* Effect.all([Layer.build(store), Layer.build(store), Layer.build(store)])
        const [first, second, third] = stores
        for (const [what, file] of odd) {
          const service = yield* Effect.provideContext(byService(file), first)
          const rows = yield* Effect.provideContext(byRows(file), second)
          const upload = yield* Effect.provideContext(byUpload(file), third)
          // Both say that the file cannot be read, in their own first words.
          assert.strictEqual(service.failure === undefined, rows.failure === undefined, what)
          if (service.failure !== undefined && rows.failure !== undefined) {
            if (!service.failure.includes("archive")) assert.include(service.failure, rows.failure, what)
            assert.deepStrictEqual(service.stored, [], what)
            continue
          }
          assert.deepStrictEqual(service.stored, rows.stored, what)
          assert.deepStrictEqual(upload.stored, rows.stored, what)
          assert.deepStrictEqual([service.rejected, upload.rejected], [rows.rejected, rows.rejected], what)
          for (const reason of rows.reasons) {
            const forms = [reason, reason.replaceAll('"', '""'), JSON.stringify(reason)]
            assert.isTrue(
              forms.some((text) => service.file.includes(text)),
              `${what}: ${reason}`
            )
          }
          for (const each of stores) yield* Effect.provideContext(emptied, each)
        }
      }),
    60_000
  )
})
