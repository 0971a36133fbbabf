/** Imports, on every layer: which files are accepted, and the outcome of their rows. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactsService, ImportSource } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Zip } from "effect/encoding"
import { eventually } from "../cases/Eventually.ts"
import { file, imported, profile, utf8 } from "./Importing.ts"
import { place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

const table = (email: string, text: string, delimiter = ",") =>
  `EMAIL${delimiter}firstname${delimiter}Note\r\n${email}${delimiter}${text}${delimiter}"two\r\nlines, ""quoted"""\r\n`

const utf16 = (text: string, littleEndian: boolean): Uint8Array => {
  const view = new DataView(new ArrayBuffer(2 * text.length))
  for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), littleEndian)
  return new Uint8Array(view.buffer)
}

/** A file whose first name has these bytes, from the code chart of its encoding. */
const inBytes = (email: string, delimiter: string, ...text: ReadonlyArray<number>): Uint8Array => {
  const [before = "", behind = ""] = table(email, "|", delimiter).split("|")
  return new Uint8Array([...utf8(before), ...text, ...utf8(behind)])
}

interface FormOptions {
  readonly encodingName?: string
  readonly name?: string
  readonly chunk?: number
}

/** Encodings and archives: the bytes of a file with one contact, and its first name. */
const fileForms: ReadonlyArray<
  readonly [why: string, bytes: (email: string) => Uint8Array, text: string, options?: FormOptions]
> = [
  ["UTF-8", (email) => utf8(table(email, "Zoë 😀")), "Zoë 😀"],
  ["UTF-8 with a mark, and semicolons", (email) => utf8(`\ufeff${table(email, "Zoë", ";")}`), "Zoë"],
  ["UTF-8, byte by byte", (email) => utf8(table(email, "Łukasz", "\t")), "Łukasz", { chunk: 1 }],
  ["UTF-16 LE, and tabs", (email) => utf16(`\ufeff${table(email, "Zoë 😀", "\t")}`, true), "Zoë 😀", { chunk: 1 }],
  ["UTF-16 BE", (email) => utf16(`\ufeff${table(email, "Zoë 😀")}`, false), "Zoë 😀", { chunk: 3 }],
  ["UTF-16 LE without a mark", (email) => utf16(table(email, "Zoë"), true), "Zoë", { encodingName: "utf-16le" }],
  [
    "UTF-8 with a mark, which outranks a name",
    (email) => utf8(`\ufeff${table(email, "Zoë")}`),
    "Zoë",
    { encodingName: "windows-1252" }
  ],
  ["windows-1252", (email) => inBytes(email, ";", 0x8c, 0x75, 0xe9), "Œué", { encodingName: "Windows-1252" }],
  ["windows-1250", (email) => inBytes(email, ";", 0xa3, 0xf3, 0x9f), "Łóź", { encodingName: "windows-1250" }],
  ["KOI8-R", (email) => inBytes(email, ",", 0xe1, 0xce), "Ан", { encodingName: "koi8-r" }],
  ["Shift_JIS", (email) => inBytes(email, ",", 0x89, 0xd4, 0x8e, 0x71), "花子", { encodingName: "shift_jis" }],
  ["UTF-8 under an odd name", (email) => utf8(table(email, "Zoë")), "Zoë", { name: 'a "quoted" name; żółć/../x.csv' }]
]

export const importConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: import", () => {
    it.effect("adds the rows of a file, with the source of a file", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const rows = [
          "EMAIL,firstname,LastName,Status,ConsentDate,ConsentIP,consenttracking,City",
          `${email("Ann")},Ann,"O'Neil, Jr.",Engaged,2021-01-01,192.0.2.1,Allow,"two\r\nlines"`,
          `${email("bo")},,,,,,,`
        ]
        yield* contacts.import(file(utf8(rows.join("\r\n"))))
        const [ann, bo] = yield* imported(rule, 2)
        assert.deepStrictEqual<unknown>(
          [ann?.email, ann?.firstName, ann?.lastName, ann?.status],
          [email("Ann"), "Ann", "O'Neil, Jr.", "Engaged"]
        )
        assert.deepStrictEqual(ann?.customFields, { City: "two\r\nlines" })
        assert.deepStrictEqual<unknown>(
          [ann?.consent?.ip, ann?.consent?.tracking, ann?.consent?.date?.epochMilliseconds],
          ["192.0.2.1", "Allow", Date.UTC(2021, 0, 1)]
        )
        assert.deepStrictEqual<unknown>([bo?.email, bo?.status, bo?.firstName ?? ""], [email("bo"), "Active", ""])
        assert.deepStrictEqual<unknown>([ann?.source, bo?.source], ["FileUpload", "FileUpload"])
      })
    )

    it.effect(
      "updates what is there: empty cells leave alone, status only where named, source and date of adding stay",
      () =>
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          const { email, rule } = place()
          const [before] = yield* contacts.add([
            { email: email("a"), status: "Stale", firstName: "Old", lastName: "Name", customFields: { x: "1", y: "2" } }
          ])
          yield* contacts.import(
            file(utf8(`Email,FirstName,LastName,Status,y,z\n${email("A")},New,,,3,4\n${email("b")},B,,,,\n`))
          )
          yield* imported(rule, 2)
          const after = yield* contacts.get(email("a"))
          assert.deepStrictEqual(profile(after), {
            ...(before && profile(before)),
            firstName: "New",
            customFields: { x: "1", y: "3", z: "4" }
          })
        })
    )

    it.effect("passes over rows that are none and takes the others", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const rows = [
          "Email,FirstName",
          `${email("a")},A`,
          "nobody,X",
          `${email("short")}`,
          ",Y",
          `${email("b")},B`,
          ""
        ]
        yield* contacts.import(file(utf8(rows.join("\n"))))
        yield* imported(rule, 2)
        // The last good row is there, so the bad rows before it were skipped.
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => contact.firstName),
          ["A", "B"]
        )
      })
    )

    it.effect("has of an address that comes twice the later row", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.import(
          file(utf8(`Email,FirstName\n${email("a")},first\n${email("A")},last\n${email("end")},E\n`))
        )
        yield* imported(rule, 2)
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => contact.firstName),
          ["last", "E"]
        )
      })
    )

    it.effect.each(fileForms)("reads a file in %s", ([, bytes, text, { chunk, name, ...options } = {}]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const content = bytes(email("a"))
        yield* contacts.import(file(content, name, chunk), options)
        const [contact] = yield* imported(rule, 1)
        assert.deepStrictEqual<unknown>(
          [contact?.email, contact?.firstName, contact?.customFields],
          [email("a"), text, { Note: 'two\r\nlines, "quoted"' }]
        )
      })
    )

    it.effect("reads the one file of an archive", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const zipped = (yield* Stream.make(
          Zip.directory("lists"),
          Zip.file("lists/c.csv", `Email,FirstName\r\n${email("zipped")},Zoë\r\n`)
        ).pipe(Stream.pipeThroughChannel(Zip.encode()), Stream.runCollect)).flatMap((chunk) => [...chunk])
        yield* contacts.import(file(new Uint8Array(zipped), "c.zip"))
        assert.strictEqual((yield* imported(rule, 1))[0]?.firstName, "Zoë")
      })
    )

    it.effect.each([
      ["two files", [Zip.file("a.csv", "Email\na@example.com\n"), Zip.file("b.csv", "Email\nb@example.com\n")]],
      ["a name that leads out of it", [Zip.file("a/../../x.csv", "Email\na@example.com\n")]],
      ["no file", [Zip.directory("empty")]]
    ] as const)("refuses an archive with %s", ([, entries]) =>
      Effect.gen(function* () {
        const zipped = (yield* Stream.fromIterable<Zip.ContentEntry>(entries).pipe(
          Stream.pipeThroughChannel(Zip.encode()),
          Stream.runCollect
        )).flatMap((chunk) => [...chunk])
        yield* refused((yield* ContactsService).import(file(new Uint8Array(zipped), "c.zip")), "ImportRefused")
      })
    )

    it.effect("leaves the status of a contact alone unless the file names one", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([
          { email: email("a"), status: "Unsubscribed" },
          { email: email("b"), status: "Unsubscribed" }
        ])
        const statuses = Effect.map(contacts.list({ rule }), (list) => list.map((contact) => contact.status))
        yield* contacts.import(file(utf8(`Email,FirstName\n${email("a")},A\n${email("b")},B\n${email("c")},C\n`)))
        yield* imported(rule, 3)
        assert.deepStrictEqual(yield* statuses, ["Unsubscribed", "Unsubscribed", "Active"])
        const withStatus = `Email,STATUS\n${email("a")},abuse\n${email("b")},\n${email("d")},STALE\n`
        yield* contacts.import(file(utf8(withStatus)))
        yield* imported(rule, 4)
        assert.deepStrictEqual(yield* statuses, ["Abuse", "Unsubscribed", "Active", "Stale"])
      })
    )

    it.effect("takes more rows than one add may have", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const rows = Array.from({ length: 2500 }, (_, i) => `${email(`r${i}`)},Name ${i},"${"x".repeat(50)}"`)
        yield* contacts.import(file(utf8(["Email,FirstName,Note", ...rows].join("\n"))))
        yield* eventually(contacts.list({ rule, limit: 1000, offset: 2000 }), (found) => found.length === 500)
        const [last] = yield* contacts.list({ rule, offset: 2499 })
        assert.deepStrictEqual([last?.email, last?.firstName], [email("r2499"), "Name 2499"])
      })
    )

    it.effect("puts contacts on a list that is there", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const listName = `List, "${domain}" & żółć`
        yield* contacts.add([{ email: email("first") }], { listNames: [listName, "Another list"] })
        yield* contacts.import(file(utf8(`Email\n${email("second")}\n`)), { listName })
        yield* imported(rule, 2)
      })
    )

    it.effect("fails with ListNotFound for a list that is not there, and takes nothing", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const name = `no "list" of ${domain}`
        assert.strictEqual(
          (yield* refused(contacts.import(file(utf8(`Email\n${email("a")}\n`)), { listName: name }), "ListNotFound"))
            .name,
          name
        )
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
      })
    )

    it.effect.each([
      ["an empty file", ""],
      ["a file without a column for the address", "Name,City\nA,B\n"],
      ["a page of HTML", "<!doctype html><title>Not found</title>\n"],
      ["a column that comes twice", "Email,City,City\na@example.com,X,Y\n"]
    ] as const)("refuses %s", ([, content]) =>
      Effect.gen(function* () {
        yield* refused((yield* ContactsService).import(file(utf8(content))), "ImportRefused")
      })
    )

    it.effect("refuses an archive that is none", () =>
      Effect.gen(function* () {
        const broken = new Uint8Array([0x50, 0x4b, 3, 4, ...utf8("this is no archive at all")])
        yield* refused((yield* ContactsService).import(file(broken, "c.zip")), "ImportRefused")
      })
    )

    it
      .needing("no-fetching")
      .effect.each([
        "http://127.0.0.1:9/c.csv",
        "http://169.254.169.254/latest/meta-data",
        "https://files.example.com/c.csv",
        "file:///etc/passwd",
        "not an address"
      ])("refuses to fetch from %s, where no host is allowed", (url) =>
      Effect.gen(function* () {
        yield* refused((yield* ContactsService).import(ImportSource.Address({ url })), "ImportRefused")
      })
    )

    it.effect("refuses the name of an encoding that there is not", () =>
      Effect.gen(function* () {
        const error = yield* refused(
          (yield* ContactsService).import(file(utf8("Email\n")), { encodingName: "klingon-8" }),
          "InvalidInput"
        )
        assert.strictEqual(error.field, "encodingName")
      })
    )
  })
}
