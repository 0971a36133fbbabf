/**
 * S46, S47, S48 What stands in an exported file and what it is called: harmless to whoever opens it, and exact when it is
 * imported again. The file is read by a parser of the tests' own.
 */
import { assert, layer } from "@effect/vitest"
import { ContactSize } from "@roster/domain"
import { Effect, Schema } from "effect"
import { readdirSync } from "node:fs"
import { askServe, download } from "../durability/KillableServe.ts"
import { contactsIn, seen } from "../durability/StoreLook.ts"
import { csvOf, csvRecordsOf, textOf, zipOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { Hostile, sendFile, settledImport } from "./Hostile.ts"

const Link = Schema.fromJsonString(Schema.Struct({ PublicExportID: Schema.String, Link: Schema.String }))

const ask = Effect.fnUntraced(function* (method: string, path: string, status: number, body?: object) {
  const { serve } = yield* Hostile
  const answer = yield* askServe(serve, method, path, body)
  assert.strictEqual(answer.status, status, answer.text.slice(0, 1000))
  return answer.text
})

/** The link of an export that is ready. */
const exportLink = Effect.fnUntraced(function* (query: Record<string, string>) {
  const created = yield* ask("POST", `/contacts/export?${new URLSearchParams(query).toString()}`, 202)
  const { Link: link, PublicExportID: id } = yield* Effect.orDie(Schema.decodeEffect(Link)(created))
  yield* eventually(ask("GET", `/contacts/export/${id}/status`, 200), (text) => text === '"Ready"')
  return link
})

const exportedText = (domain: string) =>
  exportLink({ rule: `email ends-with '@${domain}'` }).pipe(Effect.flatMap(download), Effect.map(textOf))

/** What the store holds of a text: as a first name, a last name, and a custom field. */
const kept = (domain: string) =>
  Effect.map(Hostile, ({ place }) =>
    contactsIn(place)
      .filter(({ email }) => email.endsWith(`@${domain}`))
      .map(({ custom_fields, email, first_name, last_name }) => ({
        email,
        first_name,
        last_name,
        custom: JSON.parse(custom_fields)
      }))
  )

/** Adds a contact for each text, exports them, deletes them, imports the file, and compares. Gives the file. */
const roundTrip = Effect.fnUntraced(function* (domain: string, texts: ReadonlyArray<string>) {
  const added = texts.map((text, n) => ({
    Email: `c${n}@${domain}`,
    FirstName: text,
    LastName: `${text}.`,
    CustomFields: { note: text }
  }))
  yield* ask("POST", "/contacts", 200, added)
  const before = yield* kept(domain)
  assert.deepStrictEqual(
    before.map(({ first_name }) => first_name),
    [...texts]
  )
  const file = yield* exportedText(domain)
  yield* ask("POST", "/contacts/delete", 200, { Rule: `email ends-with '@${domain}'` })
  assert.deepStrictEqual(yield* kept(domain), [])
  const { job } = yield* settledImport(sendFile(file))
  assert.deepInclude(job, { state: "Ready", accepted: texts.length, rejected: 0 })
  assert.deepStrictEqual(yield* kept(domain), before)
  return file
})

const starts = ["=", "+", "-", "@", "\t", "\r", "\n"]

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 exported files", (it) => {
  it.effect("S46 no cell begins as a formula does, and every text comes back", () =>
    Effect.gen(function* () {
      const texts = starts.flatMap((start) => [
        start,
        `${start}1+1`,
        `${start}cmd|' /C calc'!A0`,
        `'${start}x`,
        `''${start}x`,
        ` ${start}x`,
        `"${start}x"`,
        `${start}"x",=2`
      ])
      const records = csvOf(yield* roundTrip("formula.example", texts))
      assert.strictEqual(records.length, texts.length + 1)
      for (const cell of records.flat())
        assert.isFalse(
          starts.some((start) => cell.startsWith(start)),
          cell
        )
      assert.include(records.flat(), "'=1+1")
      assert.include(records.flat(), "''=x")
    })
  )

  it.effect("S46 neither does an address or the name of a column", () =>
    Effect.gen(function* () {
      const { place } = yield* Hostile
      const names = starts.filter((start) => start.trim() !== "").map((start) => `${start}SUM(A1)`)
      const emails = names.map((_, n) => `${starts[n] ?? ""}a@column.example`).filter((email) => !email.startsWith("@"))
      yield* ask(
        "POST",
        "/contacts",
        200,
        emails.map((Email) => ({ Email, CustomFields: Object.fromEntries(names.map((name) => [name, name])) }))
      )
      const before = yield* kept("column.example")
      const file = yield* exportedText("column.example")
      for (const cell of csvOf(file).flat())
        assert.isFalse(
          starts.some((start) => cell.startsWith(start)),
          cell
        )
      yield* ask("POST", "/contacts/delete", 200, { Emails: emails })
      assert.strictEqual(yield* settledImport(sendFile(file)).pipe(Effect.map(({ job }) => job.rejected)), 0)
      assert.deepStrictEqual(yield* kept("column.example"), before)
      assert.deepStrictEqual(
        contactsIn(place).flatMap(({ email }) => (email.endsWith("@column.example") ? [email] : [])),
        emails
      )
    })
  )

  it.effect("S46 a NUL, which no text may have, is refused and not kept in part", () =>
    Effect.gen(function* () {
      yield* ask("POST", "/contacts", 400, [{ Email: "nul@nul.example", FirstName: "\0=1+1" }])
      const { job, rejections } = yield* settledImport(sendFile("Email,FirstName\nnul@nul.example,\0=1+1\n"))
      assert.deepInclude(job, { state: "Ready", accepted: 0, rejected: 1 })
      assert.match(rejections[0]?.reason ?? "", /NUL/)
      assert.deepStrictEqual(yield* kept("nul.example"), [])
    })
  )

  it.effect("S47 every text comes back as it was", () =>
    Effect.gen(function* () {
      const texts = [
        "a,b;c\td",
        'say "hi", ""',
        '"',
        '""',
        "one\r\ntwo\nthree\rfour\r\n",
        "\ufeffmarked",
        "a\ufeffb",
        "👩‍👩‍👧 😀",
        "\u2028 and \u2029 and \u0085",
        "Zoe\u0301",
        "\u202egnp.exe",
        "  spaces  ",
        "\u0001\u007f\uffff",
        "NULL",
        "0012",
        "1e5",
        "<script>alert(1)</script>",
        "%0d%0a"
      ]
      const file = yield* roundTrip("text.example", texts)
      const read = csvRecordsOf(file).map((record) => record.get("note"))
      assert.deepStrictEqual(read, texts)
    })
  )

  it.effect("S47 a contact at the bound comes back as it was, of quotes too", () =>
    Effect.gen(function* () {
      // Three times in a contact, at 13 bytes of JSON.
      yield* roundTrip("mega.example", ['é,\r\n"x" '.repeat(830)])
      const { place } = yield* Hostile
      const Email = "quotes@quotes.example"
      const room = ContactSize.maximumContactBytes - JSON.stringify({ Email, CustomFields: { note: "" } }).length
      const CustomFields = { note: '"'.repeat(room / 2) }
      yield* ask("POST", "/contacts", 200, [{ Email, CustomFields }])
      const file = yield* exportedText("quotes.example")
      yield* ask("POST", "/contacts/delete", 200, { Emails: [Email] })
      yield* settledImport(sendFile(file))
      const contact = contactsIn(place).find(({ email }) => email === Email)
      assert.isTrue(JSON.parse(contact?.custom_fields ?? "{}").note === CustomFields.note)
    })
  )

  const long = "n".repeat(300)
  it.effect.each([
    ["../../etc/passwd", "passwd"],
    ["/etc/passwd", "passwd"],
    ["..\\..\\windows\\system.ini", "system.ini"],
    ["C:\\Windows\\x.csv", "x.csv"],
    ["x.csv:stream", "x.csv_stream"],
    ["a\r\nX-Evil: 1.csv", "a__X-Evil_ 1.csv"],
    ['a"b;filename=c.csv', "a_b;filename=c.csv"],
    ["a\0b.csv", "a_b.csv"],
    ["żółć 😀 (1)'s.csv", "żółć 😀 (1)'s.csv"],
    ["\u202evsc.exe", "_vsc.exe"],
    ["%2e%2e%2fx.csv", "%2e%2e%2fx.csv"],
    [`${long}.csv`, `${"n".repeat(196)}.csv`],
    [`a${"😀".repeat(300)}.csv`, `a${"😀".repeat(195)}.csv`],
    [long, "n".repeat(200)],
    ["CON", "_CON"],
    ["con.csv", "_con.csv"],
    ["Nul .txt", "_Nul .txt"],
    ["LPT1.a.csv", "_LPT1.a.csv"],
    ["COM¹", "_COM¹"],
    ["console.csv", "console.csv"],
    ["..", "contacts.csv"],
    [".", "contacts.csv"],
    [" . . ", "contacts.csv"],
    ["/", "contacts.csv"],
    [".bashrc", "bashrc"],
    ["x.csv. ", "x.csv"],
    ["<a>|?*.csv", "_a____.csv"]
  ] as const)("S48 a file asked for as %j has a harmless name", ([fileName, expected]) =>
    Effect.gen(function* () {
      const { place } = yield* Hostile
      yield* ask("POST", "/contacts", 200, [{ Email: "a@name.example" }])
      const rule = "email = 'a@name.example'"
      for (const compressionFormat of ["None", "Zip"]) {
        const link = yield* exportLink({ rule, fileName, compressionFormat })
        const { bytes, header } = yield* Effect.promise(async () => {
          const response = await fetch(link)
          assert.strictEqual(response.status, 200)
          assert.isNull(response.headers.get("x-evil"))
          return {
            bytes: new Uint8Array(await response.arrayBuffer()),
            header: response.headers.get("content-disposition") ?? ""
          }
        })
        // RFC 6266: a quoted string of ASCII, and the same in full by RFC 8187.
        const [, plain = "", full = ""] =
          /^attachment; filename="([ !#-[\]-~]*)"; filename\*=UTF-8''((?:%[0-9A-F]{2}|[\w!#$&+.^`|~-])*)$/.exec(
            header
          ) ?? assert.fail(`the header is ${header}`)
        const name = compressionFormat === "None" ? expected : `${expected}.zip`
        assert.strictEqual(decodeURIComponent(full), name)
        assert.strictEqual(plain.length, name.length)
        assert.notMatch(plain, /[/\\"]/)
        assert.isTrue(new URL(link).pathname.endsWith(`/${encodeURIComponent(name)}`))
        if (compressionFormat === "Zip") assert.deepStrictEqual([...zipOf(bytes).keys()], [expected])
      }
      yield* seen(
        () => readdirSync(place.temporary),
        (left) => left.length === 0
      )
      assert.deepStrictEqual(
        readdirSync(place.folder).filter((name) => !/^(?:roster\.db(?:-wal|-shm)?|key|tmp)$/.test(name)),
        []
      )
    })
  )
})
