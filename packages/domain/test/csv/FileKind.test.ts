import { assert, describe, it } from "@effect/vitest"
import { readContacts, type ImportMapping, rejectedFile } from "@roster/domain"
import { unpacked } from "@roster/domain/PackedFile"
import { Effect, Result, Schema, Stream } from "effect"
import { Zip } from "effect/encoding"
import { gzipSync } from "node:zlib"

const utf8 = (text: string) => new TextEncoder().encode(text)
const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))

const piecesOf = (bytes: Uint8Array, size: number) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  )

const read = (bytes: Uint8Array, mapping: ImportMapping = {}, size = Math.max(1, bytes.length)) =>
  Stream.runCollect(Stream.catchTag(readContacts(unpacked(piecesOf(bytes, size)), mapping), "InvalidInput", Stream.die))

const contactsIn = (bytes: Uint8Array, mapping: ImportMapping = {}, size?: number) =>
  Effect.map(read(bytes, mapping, size), (rows) =>
    rows.map(({ contact }): unknown => Result.getOrElse(contact, (reason) => reason))
  )

const zipOf = (files: Readonly<Record<string, string>>) =>
  Stream.fromIterable(Object.entries(files).map(([name, text]) => Zip.file(name, text))).pipe(
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.runCollect,
    Effect.map((parts) => new Uint8Array(Buffer.concat(parts)))
  )

const ann = { email: "ann@example.com", firstName: "Ann" }
const csv = "Email,FirstName\nann@example.com,Ann\n"

describe("a file that is no CSV", () => {
  it.effect.each([
    ["\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0", "Excel", "CSV"],
    ["\x09\x08\x10\0\0\x06\x05\0", "old Excel", "CSV"],
    ["\0\x01\0\0Standard ACE DB\0", "Access", "CSV"],
    ["!BDN\x12\x34", "Outlook", "CSV"],
    ["bplist00\xd1\x01\x02", "property list", "CSV"],
    ["$FL2@(#) SPSS DATA FILE", "SPSS", "CSV"],
    ["\0\0\0\x18ftypheic\0", "picture", "CSV"],
    ["ID;PWXL;N;E\nP;PGeneral\n", "SYLK", "CSV"],
    ["-- MySQL dump 10.13  Distrib 8.0\n--\nCREATE TABLE a (b int);", "SQL", "CSV"],
    ["INSERT INTO members (email, name) VALUES\n", "SQL", "CSV"],
    ["Received: from a.example.com by b\nFrom: ann@example.com\n", "mail", "CSV"],
    ["From ann@example.com Mon Jan  1 00:00:00 2024\nX: y\n", "mail", "CSV"],
    ["dn: uid=ann,ou=people,dc=example,dc=com\nmail: ann@example.com\n", "LDIF", "CSV"],
    ["[InternetShortcut]\nURL=https://example.com/\n", "link", "download"],
    ["%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "PDF", "CSV"],
    ["BZh91AY&SY", "bzip2", "unpack"],
    ["\xfd7zXZ\0\0", "xz", "unpack"],
    ["7z\xbc\xaf\x27\x1c", "7z", "unpack"],
    ["Rar!\x1a\x07\x01\0", "RAR", "unpack"],
    [`members.csv${"\0".repeat(246)}ustar\x0000`, "tar", "unpack"],
    ["SQLite format 3\0\x10\0", "SQLite", "CSV"],
    ["PAR1\x15\x04", "Parquet", "CSV"],
    ["\xff\xfe\0\0E\0\0\0", "UTF-32", "UTF-8"],
    ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture", "CSV"],
    ["\xff\xd8\xff\xe0\0\x10JFIF", "picture", "CSV"],
    ["GIF89a\x01\0\x01\0", "picture", "CSV"],
    [`\x7fELF\x02\x01\x01${"\0".repeat(60)}`, "no text", "CSV"],
    [Array.from({ length: 300 }, (_, at) => String.fromCharCode((at * 7) % 256)).join(""), "no text", "CSV"],
    ["BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann\r\nEMAIL:ann@example.com\r\nEND:VCARD\r\n", "vCard", "CSV"],
    ["\xef\xbb\xbf\r\nbegin:vcard\nversion:4.0\n", "vCard", "CSV"],
    ["BEGIN:VCALENDAR\r\n", "calendar", "no contacts"],
    ['<!DOCTYPE html>\n<html lang="en"><title>Sign in</title>', "HTML", "CSV"],
    ["  <html>\n<head>", "HTML", "CSV"],
    ["<table border=1><tr><td>Email", "HTML", "CSV"],
    ['<?xml version="1.0"?>\n<Contacts>', "XML", "CSV"],
    ["{\\rtf1\\ansi Email", "RTF", "CSV"]
  ] as const)("%j is named, and how to make a CSV of it", ([file, what, how]) =>
    Effect.gen(function* () {
      for (const size of [1, 5, 10_000]) {
        const error = yield* Effect.flip(read(latin1(file), {}, size))
        assert.strictEqual(error._tag, "UnreadableFile")
        assert.include(error.message, what)
        assert.include(error.message, how)
        assert.notMatch(error.message, /quote|utf-8;/)
      }
    })
  )

  it.effect("is a workbook or several files in an archive", () =>
    Effect.gen(function* () {
      const refusalOf = (files: Readonly<Record<string, string>>) =>
        Effect.map(
          Effect.flatMap(zipOf(files), (bytes) => Effect.flip(read(bytes))),
          ({ message }) => message
        )
      assert.include(
        yield* refusalOf({ "[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<w/>" }),
        "Excel workbook"
      )
      assert.include(yield* refusalOf({ "_rels/.rels": "", "xl/workbook.xml": "" }), "Excel workbook")
      assert.include(yield* refusalOf({ mimetype: "application/vnd.oasis.opendocument.spreadsheet" }), ".ods")
      for (const name of ["Index/Document.iwa", "preview.jpg", "Index.zip"]) {
        assert.include(yield* refusalOf({ [name]: csv, "Data/a.csv": csv }), "Numbers")
      }
      const two = yield* refusalOf({ "a/members.csv": csv, "others.csv": csv })
      assert.include(two, '"a/members.csv" and "others.csv"')
      assert.include(two, "unpack it and import each one")
    })
  )

  it.effect("has lines that are quoted as a whole, of the header or of rows", () =>
    Effect.gen(function* () {
      for (const delimiter of [",", ";", "\t", "|"]) {
        for (const end of ["", ";", ";;"]) {
          const lines = csv.replaceAll(",", delimiter).trim().split("\n")
          const quoted = lines.map((line) => `"${line.replaceAll('"', '""')}"${end}\r\n`).join("")
          const error = yield* Effect.flip(read(utf8(quoted)))
          assert.include(error.message, "each line is quoted as a whole", JSON.stringify(quoted))
        }
      }
      const [row] = yield* contactsIn(utf8('Email,FirstName\n"ann@example.com,Ann"\n'))
      assert.strictEqual(row, "the row has 1 cell, the header has 2 columns; the line is quoted as a whole")
      const [other] = yield* contactsIn(utf8("Email,FirstName\nann@example.com\n"))
      assert.strictEqual(other, "the row has 1 cell, the header has 2 columns")
    })
  )

  it.effect("is no heading that looks like one", () =>
    Effect.gen(function* () {
      for (const heading of [
        "<name>",
        "[name]",
        "{name}",
        "%PDF",
        "BEGIN",
        "PAR",
        "{",
        "[",
        "ID",
        "Create date",
        "From",
        "Table",
        "Insert",
        "Obj"
      ]) {
        const [contact] = yield* contactsIn(utf8(`${heading},Email\nx,ann@example.com\n`))
        assert.deepStrictEqual(contact, { email: "ann@example.com", customFields: { [heading]: "x" } })
      }
    })
  )
})

describe("a packed file", () => {
  it.effect("is read, by gzip or from an archive, in pieces of any size", () =>
    Effect.gen(function* () {
      const zipped = yield* zipOf({ "members.csv": csv })
      const json = yield* zipOf({ "members.json": '[{"Email":"ann@example.com","FirstName":"Ann"}]' })
      for (const bytes of [gzipSync(csv), zipped, json]) {
        for (const size of [1, 7, 1000]) assert.deepStrictEqual(yield* contactsIn(bytes, {}, size), [ann])
      }
    })
  )

  it.effect("is refused if it is broken, packed twice, or far larger than it seems", () =>
    Effect.gen(function* () {
      const many = gzipSync(utf8(csv.repeat(1000)))
      for (const [bytes, says] of [
        [many.subarray(0, many.length - 20), "breaks off"],
        [gzipSync(gzipSync(csv)), "unpack it once"],
        [gzipSync(yield* zipOf({ "a.csv": csv })), "unpack it once"],
        [gzipSync(Buffer.concat([utf8(csv), Buffer.alloc(40_000_000, "\n")])), "200 times"]
      ] as const) {
        const error = yield* Effect.flip(read(new Uint8Array(bytes), {}, 1000))
        assert.strictEqual(error._tag, "UnreadableFile")
        assert.include(error.message, says)
      }
    })
  )

  it.effect("passes on the error of its source", () =>
    Effect.gen(function* () {
      const cut = Stream.concat(
        Stream.make(new Uint8Array(gzipSync(csv).subarray(0, 15))),
        Stream.fail("gone" as const)
      )
      assert.strictEqual(yield* Effect.flip(Stream.runDrain(unpacked(cut))), "gone")
    })
  )
})

describe("a file in another encoding", () => {
  /** The bytes of a text in an encoding of one byte a character, by the decoder of the runtime. */
  const encodedIn = (name: string, text: string) => {
    const all = new TextDecoder(name).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
    return Uint8Array.from(text, (character) => all.indexOf(character))
  }

  it.effect.each([
    ["windows-1252", "Zoë “Z” €"],
    ["windows-1252", "François Œuvré"],
    ["windows-1252", "Müller"],
    ["windows-1250", "Łukasz Żółć"],
    ["windows-1251", "Мария Иванова"]
  ] as const)("is proposed to be %s, as which %s is a name", ([name, text]) =>
    Effect.gen(function* () {
      const file = encodedIn(name, `Email,FirstName\nann@example.com,${text}\n`)
      const error = yield* Effect.flip(read(file))
      assert.strictEqual(error.encoding, name)
      assert.include(error.message, `as ${name} a cell would read`)
      assert.include(error.message, text)
      assert.deepStrictEqual(yield* contactsIn(file, { encoding: error.encoding ?? "" }), [
        { email: "ann@example.com", firstName: text }
      ])
    })
  )

  it.effect("is proposed to be Japanese or Chinese, too", () =>
    Effect.gen(function* () {
      // 山田太郎 in Shift_JIS and 张伟 in GBK, by their code charts.
      const japanese = [0x8e, 0x52, 0x93, 0x63, 0x91, 0xbe, 0x98, 0x59]
      const chinese = [0xd5, 0xc5, 0xce, 0xb0]
      for (const [bytes, name, text] of [
        [japanese, "shift_jis", "山田太郎"],
        [chinese, "gb18030", "张伟"]
      ] as const) {
        const file = new Uint8Array([...utf8("Email,FirstName\nann@example.com,"), ...bytes, 0x0a])
        const error = yield* Effect.flip(read(file))
        assert.deepStrictEqual([error.encoding, error.message.includes(text)], [name, true])
      }
    })
  )

  it.effect("is proposed to be UTF-16 without its mark, and UTF-8 if another was named", () =>
    Effect.gen(function* () {
      const little = Uint8Array.from(csv.split("").flatMap((character) => [character.charCodeAt(0), 0]))
      const big = Uint8Array.from(csv.split("").flatMap((character) => [0, character.charCodeAt(0)]))
      assert.strictEqual((yield* Effect.flip(read(little))).encoding, "utf-16le")
      assert.strictEqual((yield* Effect.flip(read(big))).encoding, "utf-16be")
      assert.deepStrictEqual(yield* contactsIn(little, { encoding: "utf-16le" }), [ann])
      const error = yield* Effect.flip(
        read(utf8("Email,FirstName\nann@example.com,Voilà\n"), { encoding: "shift_jis" })
      )
      assert.strictEqual(error.encoding, "utf-8")
    })
  )
})

describe("JSON", () => {
  const record = {
    Email: "ann@example.com",
    FirstName: "Ann",
    LastName: null,
    Status: "active",
    Consent: { ConsentIP: "192.0.2.1", ConsentDate: "2024-01-31T00:00:00Z", ConsentTracking: "Allow" },
    CustomFields: { city: "Köln", formula: "=1", number: 7, flag: true, none: null },
    Source: "ContactApi",
    DateAdded: "2024-01-01T00:00:00Z",
    Activity: { TotalSent: 3, LastSent: null },
    town: "Bonn",
    tags: []
  }
  const contact = {
    email: "ann@example.com",
    firstName: "Ann",
    status: "Active",
    customFields: { city: "Köln", formula: "=1", number: "7", flag: "true", town: "Bonn" }
  }

  it.effect.each([
    ["an array", [record, record]],
    ["an array on many lines", [record, record]],
    ["NDJSON", [record, record]],
    ["one object", [record]]
  ] as const)("as %s has the contacts that it names", ([kind, records]) =>
    Effect.gen(function* () {
      const text =
        kind === "an array"
          ? JSON.stringify(records)
          : kind === "an array on many lines"
            ? JSON.stringify(records, null, 2)
            : records.map((each) => JSON.stringify(each)).join("\r\n")
      for (const size of [1, 17, 10_000]) {
        const found = yield* contactsIn(utf8(`\ufeff ${text}\n`), {}, size)
        assert.strictEqual(found.length, records.length)
        for (const each of found) assert.deepInclude(each, contact)
      }
    })
  )

  it.effect("is mapped by its names, and each row is checked alone", () =>
    Effect.gen(function* () {
      const lines = [
        { mail: "ann@example.com", Vorname: "Ann", Status: "on" },
        { mail: "bob@example.com" },
        { mail: "nobody" },
        { Vorname: "Cem" },
        { mail: "dee@example.com", tags: ["a"] },
        { mail: "eve@example.com", id: 2 ** 60 },
        { mail: "Fay <fay@example.com>" }
      ].map((each) => JSON.stringify(each))
      const file = [...lines, '{"mail":"gil@example.com","x":1,"x":2}', '{"mail": gil}', ""].join("\n")
      const mapping: ImportMapping = {
        columns: { mail: "Email", vorname: "FirstName" },
        values: { Status: { on: "Active" } }
      }
      const rows = yield* read(utf8(file), mapping)
      assert.deepStrictEqual(
        rows.map(({ line }) => line),
        [1, 2, 3, 4, 5, 6, 7, 8, 9]
      )
      const found = rows.map((row): unknown => Result.getOrElse(row.contact, (reason) => reason))
      assert.deepStrictEqual(found.slice(0, 2), [
        { email: "ann@example.com", firstName: "Ann", status: "Active" },
        { email: "bob@example.com" }
      ])
      for (const [index, says] of [
        "an @",
        'no column "Email"',
        '"tags"',
        '"id"',
        '"fay@example.com"',
        "twice",
        "valid JSON"
      ].entries()) {
        assert.include(String(found[index + 2]), says)
      }
      assert.strictEqual(rows[6]?.fault?.suggestion, "fay@example.com")
    })
  )

  it.effect("makes a file of rejected rows that can be corrected, and is rejected again until it is", () =>
    Effect.gen(function* () {
      const file = '[{"Email":"nobody",\n "a":{}}, {"Email":"ann@example.com"}, {}, {"Email":1,"_error":"\\"}"}]'
      const rejectedOf = Effect.fnUntraced(function* (bytes: Uint8Array) {
        const rows = yield* read(bytes)
        const rejected = rows.flatMap(({ cells, contact, header }) =>
          Result.isFailure(contact) ? [{ cells, header, reason: contact.failure }] : []
        )
        const header = rejected[0]?.header ?? assert.fail("nothing is rejected")
        return Buffer.concat(yield* Stream.runCollect(rejectedFile(header, Stream.fromIterable(rejected))))
      })
      const first = yield* rejectedOf(utf8(file))
      const lines = first.toString().trimEnd().split("\n")
      const values = lines.map((line): unknown => JSON.parse(line))
      assert.deepInclude(values[0], { Email: "nobody", a: {} })
      assert.deepStrictEqual(
        values.map((value) => Object.keys(Object(value)).at(-1)),
        ["_error", "_error", "_error"]
      )
      assert.strictEqual((yield* rejectedOf(new Uint8Array(first))).toString(), first.toString())
      const corrected = first.toString().replace("nobody", "bob@example.com")
      assert.deepStrictEqual((yield* contactsIn(utf8(corrected)))[0], { email: "bob@example.com" })
    })
  )

  it.effect.each([
    ['["ann@example.com"]', "a contact is an object"],
    ['[{"Email":"ann@example.com"}', "breaks off"],
    ['{"Email":"ann@example.com"', "breaks off"],
    ['[{"Email":"ann@example.com"} {"Email":"bob@example.com"}]', "a comma is missing"],
    ['[{"Email":"ann@example.com"},]', "a contact is an object"],
    ['[{"Email":"ann@example.com"}] x', "behind the end"],
    ['{"Name":"Ann"}\n', 'no column "Email"'],
    [`{"Email":${"[".repeat(100)}`, "deeper"]
  ] as const)("%s cannot be read", ([file, says]) =>
    Effect.gen(function* () {
      for (const size of [1, 1000]) {
        const error = yield* Effect.flip(read(utf8(file), {}, size))
        assert.strictEqual(error._tag, "UnreadableFile")
        assert.include(error.message, says)
      }
    })
  )

  it.effect("with nearly the names of fields says which they would be, and an empty array has none", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(utf8('{"e-mail":"ann@example.com"}')))
      assert.deepStrictEqual(error.likelyFields, { "e-mail": "Email" })
      assert.deepStrictEqual(yield* contactsIn(utf8(" [ ]\n")), [])
    })
  )

  const Text = Schema.Array(Schema.Literals(["a", '"', "\\", "{", "}", "[", "]", ",", "é", "\n", "=", "'", " "]))
  it.effect.prop(
    "keeps every text of every field, in pieces of any size",
    [
      Schema.Array(Schema.Tuple([Text, Text])),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
      Schema.Literals(["[", "\n"])
    ],
    ([texts, size, form]) =>
      Effect.gen(function* () {
        const records = texts.map(([name, value], i) => ({
          Email: `u${i}@example.com`,
          CustomFields: { [`x${name.join("")}x`]: value.join("") }
        }))
        const file = form === "[" ? JSON.stringify(records) : records.map((each) => JSON.stringify(each)).join("\n")
        if (file === "") return
        assert.deepStrictEqual(
          yield* contactsIn(utf8(file), {}, size),
          records.map(({ CustomFields, Email }) => ({
            email: Email,
            ...(Object.values(CustomFields)[0] === "" ? {} : { customFields: CustomFields })
          }))
        )
      })
  )
})
