import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { csvRecordsOf, textOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { ask, askJson, refusedWith, succeeded, textField, Wire } from "./Wire.ts"

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("export on the wire", (it) => {
  const exported = Effect.fnUntraced(function* (query: string, asked: Parameters<typeof ask>[2] = {}) {
    const link = succeeded(yield* ask("POST", `/contacts/export${query}`, asked), 202)
    assert.deepStrictEqual(Object.keys(Object(link)).sort(), ["Link", "PublicExportID"])
    const id = textField(link, "PublicExportID")
    const status = yield* eventually(
      ask("GET", `/contacts/export/${id}/status`),
      (answer) => answer.text !== '"Loading"'
    )
    // A bare JSON string, quotes and nothing else.
    assert.deepStrictEqual([status.status, status.text], [200, '"Ready"'])
    const { pathname } = new URL(textField(link, "Link"))
    const path = pathname.replace(/^\/v4/, "")
    return { path, ...(yield* ask("GET", path, { key: null })) }
  })
  const emailsOf = (bytes: Uint8Array) => csvRecordsOf(textOf(bytes)).map((record) => record.get("Email"))

  const arrange = askJson("POST", "/contacts", [
    { Email: "a+1@export.example", FirstName: "Ann B" },
    { Email: "b/2@export.example", FirstName: "AnnB" },
    { Email: "c@export.example", Status: "Stale" }
  ])
  const all = ["a+1@export.example", "b/2@export.example", "c@export.example"]
  const ofPlace = "rule=email%20ends-with%20'%40export.example'"

  it.effect.each([
    ["a form of length 0", { headers: { "Content-Type": "application/x-www-form-urlencoded" } }],
    ["no type and no body", {}],
    ["a JSON type and no body", { headers: { "Content-Type": "application/json" } }]
  ] as const)("may be asked for with %s", ([, asked]) =>
    Effect.gen(function* () {
      succeeded(yield* arrange)
      assert.deepStrictEqual(emailsOf((yield* exported(`?${ofPlace}`, asked)).bytes), all)
    })
  )

  it.effect("takes e-mails as repeated keys or joined by commas, and both kinds of space", () =>
    Effect.gen(function* () {
      succeeded(yield* arrange)
      const [first, second] = all.map(encodeURIComponent)
      const both = all.slice(0, 2)
      assert.deepStrictEqual(emailsOf((yield* exported(`?emails=${first}&emails=${second}`)).bytes), both)
      assert.deepStrictEqual(emailsOf((yield* exported(`?emails=${first},${second}`)).bytes), both)
      assert.deepStrictEqual(emailsOf((yield* exported(`?emails=${first}%2C%20${second}`)).bytes), both)
      assert.deepStrictEqual(emailsOf((yield* exported(`?emails=${first}`)).bytes), all.slice(0, 1))
      assert.deepStrictEqual(emailsOf((yield* exported(`?rule=firstname+=+'Ann+B'`)).bytes), all.slice(0, 1))
      assert.deepStrictEqual(
        emailsOf((yield* exported(`?rule=firstname%20%3D%20%27Ann%20B%27`)).bytes),
        all.slice(0, 1)
      )
    })
  )

  it.effect("gives the file its type and name, and no other page a way to run it", () =>
    Effect.gen(function* () {
      succeeded(yield* arrange)
      for (const [query, type, name] of [
        ["", "text/csv", /\.csv/],
        ["&fileFormat=Json", "application/json", /\.json/],
        ["&fileFormat=Xml", "application/xml", /\.xml/],
        ["&compressionFormat=Zip", "application/zip", /\.zip/],
        ["&fileName=my+%C5%BC%C3%B3%C5%82%C4%87%0d%0aX-Evil:+1.csv", "text/csv", /my/]
      ] as const) {
        const { headers } = yield* exported(`?${ofPlace}${query}`)
        assert.isTrue(String(headers["content-type"]).startsWith(type), `${query} ${String(headers["content-type"])}`)
        assert.match(String(headers["content-disposition"]), /^attachment\b/)
        assert.match(String(headers["content-disposition"]), name)
        assert.strictEqual(headers["x-content-type-options"], "nosniff")
        assert.notProperty(headers, "x-evil")
      }
    })
  )

  it.effect("gives the rest of a file only to those who have the beginning of the same file", () =>
    Effect.gen(function* () {
      succeeded(yield* arrange)
      const { bytes, headers, path } = yield* exported(`?${ofPlace}`)
      const etag = String(headers["etag"])
      assert.match(etag, /^"[!#-~]+"$/)
      const last = bytes.length - 1
      for (const [condition, status] of [
        [undefined, 206],
        [etag, 206],
        [`W/${etag}`, 200],
        ['"other"', 200],
        [`${etag}, "other"`, 200],
        ["*", 200],
        [new Date(0).toUTCString(), 200],
        [new Date().toUTCString(), 200]
      ] as const) {
        for (const from of [10, last + 1]) {
          const range = { Range: `bytes=${from}-`, ...(condition === undefined ? {} : { "If-Range": condition }) }
          const answer = yield* ask("GET", path, { key: null, headers: range })
          const due = status === 206 && from > last ? 416 : status
          assert.strictEqual(answer.status, due, condition)
          if (due === 416) continue
          assert.strictEqual(answer.headers["etag"], etag)
          assert.strictEqual(answer.headers["content-range"], due === 206 ? `bytes 10-${last}/${last + 1}` : undefined)
          assert.isTrue(Buffer.from(answer.bytes).equals(bytes.subarray(due === 206 ? 10 : 0)), condition)
        }
      }
    })
  )

  it.effect.each([
    ["a format that is none", "?fileFormat=Pdf", "fileFormat", "Pdf"],
    ["a format in small letters", "?fileFormat=csv", "fileFormat", "csv"],
    ["a compression that is none", "?compressionFormat=Rar", "compressionFormat", "Rar"],
    ["a blank format", "?fileFormat=", "fileFormat", '""'],
    ["an address that cannot be", "?emails=a%20b@example.com", "mails", "a b@"],
    ["a blank list", "?emails=", "mails", '""'],
    ["a blank rule", "?rule=", "ule", '""'],
    ["a rule that cannot be read", "?rule=status+~+1", "ule", '""']
  ] as const)("refuses %s with 400, by its field and not its value", ([, query, field, value]) =>
    Effect.gen(function* () {
      const text = refusedWith(yield* ask("POST", `/contacts/export${query}`), 400)
      assert.include(text, field)
      if (value !== '""' && value !== "csv") assert.notInclude(text, value)
    })
  )

  it.effect.each([
    "00000000-0000-4000-8000-000000000000",
    "not-a-guid",
    "1",
    "%2e%2e",
    "' OR 1=1 --".replaceAll(" ", "%20")
  ])("knows no export %s", (id) =>
    Effect.gen(function* () {
      const answer = yield* ask("GET", `/contacts/export/${id}/status`)
      refusedWith(answer, answer.status === 400 ? 400 : 404)
    })
  )

  it.effect.each(["/exports/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/contacts.csv", "/exports/%2e%2e/roster.db"])(
    "knows no file %s",
    (path) =>
      Effect.gen(function* () {
        refusedWith(yield* ask("GET", path, { key: null }), 404)
      })
  )
})
