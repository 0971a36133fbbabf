import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { ask, askJson, refusedWith, succeeded, succeededEmpty, Wire } from "./Wire.ts"

const boundary = "----b0undary"
const multipart = { "Content-Type": `multipart/form-data; boundary=${boundary}` }
const part = (disposition: string, content: string | Uint8Array, headers = "") =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n")
  ])
const end = Buffer.from(`--${boundary}--\r\n`)
const form = (...parts: ReadonlyArray<Uint8Array>) => Buffer.concat([...parts, end])
const file = (content: string | Uint8Array, headers = "Content-Type: text/csv\r\n") =>
  part(`name="file"; filename="c.csv"`, content, headers)

/** A contact, once an import has brought it. */
const arrived = (email: string) =>
  Effect.map(
    eventually(ask("GET", `/contacts/${encodeURIComponent(email)}`), (answer) => answer.status === 200),
    (answer) => succeeded(answer)
  )

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("import on the wire", (it) => {
  const csv = (email: string) => `Email,FirstName\r\n${email},Zoë\r\n`

  it.effect.each([
    ["a sized body", "sized@example.com", (email: string) => form(file(csv(email)))],
    [
      "a chunked body",
      "chunked@example.com",
      (email: string) => [...form(file(csv(email)))].map((byte) => Buffer.from([byte]))
    ],
    ["a part without a type", "typeless@example.com", (email: string) => form(file(csv(email), ""))],
    [
      "a part of another type",
      "typed@example.com",
      (email: string) => form(file(csv(email), "Content-Type: application/vnd.ms-excel\r\n"))
    ],
    ["a part without a file name", "nameless@example.com", (email: string) => form(part(`name="file"`, csv(email)))],
    [
      "a part without a file name and with a type",
      "octets@example.com",
      (email: string) => form(part(`name="file"`, csv(email), "Content-Type: application/octet-stream\r\n"))
    ],
    [
      "a file name of another script",
      "script@example.com",
      (email: string) => form(part(`name="file"; filename="żółć \\"x\\".csv"; filename*=UTF-8''x.csv`, csv(email)))
    ],
    [
      "fields before the file",
      "fields@example.com",
      (email: string) => form(part(`name="encodingName"`, "utf-8"), part(`name="listName"`, ""), file(csv(email)))
    ],
    [
      "fields behind the file",
      "behind@example.com",
      (email: string) => form(file(csv(email)), part(`name="encoding_name"`, "utf-8"))
    ]
  ] as const)("takes %s", ([, email, body]) =>
    Effect.gen(function* () {
      succeededEmpty(yield* ask("POST", "/contacts/import", { headers: multipart, body: body(email) }), 202)
      assert.deepInclude(yield* arrived(email), { FirstName: "Zoë", Source: "FileUpload" })
    })
  )

  it.effect.each([
    ["with a file name", (content: Uint8Array) => file(content)],
    ["without a file name", (content: Uint8Array) => part(`name="file"`, content)]
  ] as const)("reads another encoding, in a part %s", ([kind, of]) =>
    Effect.gen(function* () {
      const email = `latin-${kind.length}@example.com`
      const body = form(of(Buffer.from(csv(email), "latin1")))
      succeededEmpty(
        yield* ask("POST", "/contacts/import?encodingName=windows-1252", { headers: multipart, body }),
        202
      )
      assert.deepInclude(yield* arrived(email), { FirstName: "Zoë" })
    })
  )

  it.effect("reads its options from the query or the form, in either spelling, the query first", () =>
    Effect.gen(function* () {
      succeeded(yield* askJson("POST", "/contacts?listnames=Known", [{ Email: "known@example.com" }]))
      const content = file(csv("options@example.com"))
      const listNotFound = Effect.fnUntraced(function* (query: string, ...parts: ReadonlyArray<Uint8Array>) {
        assert.include(
          refusedWith(
            yield* ask("POST", `/contacts/import${query}`, { headers: multipart, body: form(...parts) }),
            400
          ),
          '"Nowhere"'
        )
      })
      yield* listNotFound("?listName=Nowhere", content)
      yield* listNotFound("", part(`name="listName"`, "Nowhere"), content)
      yield* listNotFound("", part(`name="list_name"`, "Nowhere"), content)
      yield* listNotFound("", content, part(`name="list_name"`, "Nowhere"))
      yield* listNotFound("?listName=Nowhere", part(`name="listName"`, "Known"), content)
      const body = form(part(`name="list_name"`, "Nowhere"), content)
      succeededEmpty(yield* ask("POST", "/contacts/import?listName=Known", { headers: multipart, body }), 202)
      for (const name of ["encodingName", "encoding_name"]) {
        refusedWith(
          yield* ask("POST", "/contacts/import", {
            headers: multipart,
            body: form(part(`name="${name}"`, "klingon-8"), content)
          }),
          400
        )
      }
    })
  )

  it.effect.each(["listName", "LISTNAME", "listname", "list_name", "LIST_NAME"])(
    "reads the fields of a form as they are spelt: %s",
    (name) =>
      Effect.gen(function* () {
        const body = form(part(`name="${name}"`, "Nowhere"), file(csv("spelt@example.com")))
        assert.include(
          refusedWith(yield* ask("POST", "/contacts/import", { headers: multipart, body }), 400),
          '"Nowhere"'
        )
      })
  )

  it.effect.each([
    ["an option that is none", [part(`name="list"`, "Known")], "list"],
    ["an option twice", [part(`name="listName"`, "Known"), part(`name="list_name"`, "Known")], "listName"],
    ["another file", [part(`name="lists"; filename="x.csv"`, "Known")], "lists"]
  ] as const)("refuses %s, and names it", ([, parts, field]) =>
    Effect.gen(function* () {
      succeeded(yield* askJson("POST", "/contacts?listnames=Known", [{ Email: "known@example.com" }]))
      const body = form(...parts, file(csv("no@example.com")))
      const text = refusedWith(yield* ask("POST", "/contacts/import", { headers: multipart, body }), 400)
      assert.isTrue(text.startsWith(`Invalid ${field}: `), text)
      refusedWith(yield* ask("GET", "/contacts/no@example.com"), 404)
    })
  )

  it.effect("takes a form with fields that were left empty, and its file in other letters", () =>
    Effect.gen(function* () {
      const empty = ["listName", "list_name", "unknown"].map((name) => part(`name="${name}"`, ""))
      const body = form(...empty, part(`name="FILE"; filename="c.csv"`, csv("other-letters@example.com")))
      succeededEmpty(yield* ask("POST", "/contacts/import", { headers: multipart, body }), 202)
      yield* arrived("other-letters@example.com")
    })
  )

  it.effect.each([
    ["zero parts", { headers: multipart, body: end }],
    ["an empty body with a multipart type", { headers: multipart, body: "" }],
    ["no boundary", { headers: { "Content-Type": "multipart/form-data" }, body: form(file(csv("no@example.com"))) }],
    [
      "another boundary",
      { headers: { "Content-Type": "multipart/form-data; boundary=other" }, body: form(file(csv("no@example.com"))) }
    ],
    ["a body that breaks off", { headers: multipart, body: file(csv("no@example.com")).subarray(0, -12) }],
    ["a form without its end", { headers: multipart, body: file(csv("no@example.com")) }],
    ["an empty file", { headers: multipart, body: form(file("")) }],
    ["a file without the column Email", { headers: multipart, body: form(file("Name\r\nno@example.com\r\n")) }],
    [
      "a file that is not UTF-8",
      { headers: multipart, body: form(file(Buffer.from("Email,N\xe9\r\nno@example.com,x\r\n", "latin1"))) }
    ],
    [
      "a part of another name",
      { headers: multipart, body: form(part(`name="upload"; filename="c.csv"`, csv("no@example.com"))) }
    ],
    [
      "a file whose bytes are encoded",
      {
        headers: multipart,
        body: form(
          part(`name="file"; filename="c.csv"\r\nContent-Transfer-Encoding: quoted-printable`, csv("no@example.com"))
        )
      }
    ],
    ["nothing at all", {}]
  ] as const)("refuses %s with 400, and takes nothing", ([, asked]) =>
    Effect.gen(function* () {
      refusedWith(yield* ask("POST", "/contacts/import", asked), 400)
      refusedWith(yield* ask("GET", "/contacts/no@example.com"), 404)
    })
  )

  it.effect.each(["text/csv", "application/json", "application/x-www-form-urlencoded"])(
    "refuses a body of the type %s",
    (type) =>
      Effect.gen(function* () {
        const answer = yield* ask("POST", "/contacts/import", {
          headers: { "Content-Type": type },
          body: csv("no@example.com")
        })
        assert.include([400, 415], answer.status)
        refusedWith(answer, answer.status)
      })
  )

  it.effect("refuses to fetch an address, in the query or in the form, while no host is allowed", () =>
    Effect.gen(function* () {
      const url = "https://files.example.com/c.csv"
      const query = `?fileUrl=${encodeURIComponent(url)}`
      for (const answer of [
        yield* ask("POST", `/contacts/import${query}`),
        yield* ask("POST", `/contacts/import${query}`, { headers: multipart, body: "" }),
        yield* ask("POST", `/contacts/import${query}`, { headers: multipart, body: end }),
        yield* ask("POST", "/contacts/import", { headers: multipart, body: form(part(`name="fileUrl"`, url)) }),
        yield* ask("POST", "/contacts/import", { headers: multipart, body: form(part(`name="file_url"`, url)) })
      ]) {
        assert.match(refusedWith(answer, 400), /^The import was refused: /)
      }
    })
  )
})
