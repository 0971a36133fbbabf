/**
 * What every layer promises of imports: which files are taken, and what becomes of their rows.
 */
import { assert, describe, type Vitest } from "@effect/vitest"
import { ContactsService, ImportSource } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Zip } from "effect/encoding"
import { eventually } from "./Eventually.ts"
import { file, imported, profile, utf8 } from "./Importing.ts"
import { place } from "./Place.ts"
import { refused } from "./Refused.ts"

/**
 * @category suites
 * @since 0.1.0
 */
export const importConformance = (it: Vitest.MethodsNonLive<ContactsService>): void => {
  describe("contacts: import", () => {
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
        // The last good row is there, so the bad ones before it have been passed over.
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

    it.effect("reads every form that files come in", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const table = (name: string, delimiter = ",") =>
          `Email${delimiter}FirstName\r\n${email(name)}${delimiter}Zoë\r\n`
        const utf16 = new Uint8Array(
          new Uint16Array([...`\ufeff${table("utf16", "\t")}`].map((char) => char.charCodeAt(0))).buffer
        )
        const latin1 = Uint8Array.from(table("latin1", ";"), (char) => char.charCodeAt(0))
        const zipped = (yield* Stream.make(Zip.file("c.csv", table("zipped"))).pipe(
          Stream.pipeThroughChannel(Zip.encode()),
          Stream.runCollect
        )).flatMap((chunk) => [...chunk])
        yield* contacts.import(file(utf8(`\ufeff${table("marked")}`)))
        yield* contacts.import(file(utf16, "u.tsv", 1))
        yield* contacts.import(file(latin1), { encodingName: "windows-1252" })
        yield* contacts.import(file(new Uint8Array(zipped), "c.zip"))
        yield* contacts.import(file(utf8(table("odd")), 'a "quoted" name; żółć/../x.csv'))
        const found = yield* imported(rule, 5)
        assert.deepStrictEqual(
          found.map((contact) => contact.firstName),
          ["Zoë", "Zoë", "Zoë", "Zoë", "Zoë"]
        )
      })
    )

    it.effect(
      "takes more rows than one add may have",
      () =>
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          const { email, rule } = place()
          const rows = Array.from({ length: 2500 }, (_, i) => `${email(`r${i}`)},Name ${i},"${"x".repeat(50)}"`)
          yield* contacts.import(file(utf8(["Email,FirstName,Note", ...rows].join("\n"))))
          yield* eventually(contacts.list({ rule, limit: 1000, offset: 2000 }), (found) => found.length === 500)
          const [last] = yield* contacts.list({ rule, offset: 2499 })
          assert.deepStrictEqual([last?.email, last?.firstName], [email("r2499"), "Name 2499"])
        }),
      40_000
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

    it.effect.each([
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
