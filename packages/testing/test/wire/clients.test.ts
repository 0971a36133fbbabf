/**
 * Requests as clients in the wild send them: what means nothing counts as absent, names are read in the spellings that are
 * about, and what cannot be honoured is refused instead of dropped.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { csvRecordsOf, textOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { ask, askJson, refusedWith, succeeded, succeededEmpty, textField, Wire } from "./Wire.ts"

const json = { "Content-Type": "application/json" }
const form = { "Content-Type": "multipart/form-data; boundary=b" }
const importOf = (...parts: ReadonlyArray<readonly [name: string, value: string]>) =>
  parts.map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("") +
  "--b--\r\n"
const contactFile = ["file", "Email\r\nimported@wild.example\r\n"] as const

const addresses = (contacts: unknown) => [contacts].flat().map((contact) => textField(contact, "Email"))

/** Of a few addresses, those that are contacts. */
const present = Effect.fnUntraced(function* (...emails: ReadonlyArray<string>) {
  const answers = yield* Effect.forEach(emails, (email) => ask("GET", `/contacts/${email}`))
  return emails.filter((_, index) => answers[index]?.status === 200)
})

const add = (...emails: ReadonlyArray<string>) =>
  Effect.map(
    askJson(
      "POST",
      "/contacts",
      emails.map((Email) => ({ Email }))
    ),
    (answer) => succeeded(answer)
  )

/** Whether there is a list: only then an import may name it. */
const isList = (name: string) =>
  Effect.map(
    ask("POST", `/contacts/import?listName=${encodeURIComponent(name)}`, {
      headers: form,
      body: importOf(contactFile)
    }),
    ({ status }) => status === 202
  )

/** The addresses in the file of an export. */
const exported = Effect.fnUntraced(function* (query: string, asked: Parameters<typeof ask>[2] = {}) {
  const link = succeeded(yield* ask("POST", `/contacts/export${query}`, asked), 202)
  yield* eventually(
    ask("GET", `/contacts/export/${textField(link, "PublicExportID")}/status`),
    ({ text }) => text === '"Ready"'
  )
  const { pathname } = new URL(textField(link, "Link"))
  const { bytes, headers } = yield* ask("GET", pathname.replace(/^\/v4/, ""), { key: null })
  return String(headers["content-type"]).startsWith("application/json")
    ? addresses(JSON.parse(textOf(bytes)))
    : csvRecordsOf(textOf(bytes)).map((record) => record.get("Email"))
})

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("clients in the wild", (it) => {
  const a = "a@wild.example"
  const b = "b@wild.example"

  describe("empty or null values mean absent", () => {
    it.effect.each([
      ["a rule beside no e-mails", { Rule: `email = '${a}'`, Emails: [] }],
      ["e-mails beside an empty rule", { Rule: "", Emails: [a] }],
      ["a rule beside null", { Rule: `email = '${a}'`, Emails: null }],
      ["e-mails beside null", { Rule: null, Emails: [a] }]
    ] as const)("bulk delete by %s", ([, body]) =>
      Effect.gen(function* () {
        yield* add(a, b)
        succeededEmpty(yield* askJson("POST", "/contacts/delete", body))
        assert.deepStrictEqual(yield* present(a, b), [b])
      })
    )

    it.effect.each([
      ["nothing", {}],
      ["an empty rule and no e-mails", { Rule: "", Emails: [] }],
      ["an empty rule", { Rule: "" }],
      ["no e-mails", { Emails: [] }],
      ["two nulls", { Rule: null, Emails: null }],
      ["an empty rule and null", { Rule: "", Emails: null }],
      ["null and no e-mails", { Rule: null, Emails: [] }],
      ["a rule of spaces", { Rule: "  " }],
      ["a rule of spaces and no e-mails", { Rule: " \t", Emails: [] }],
      ["a rule of spaces and e-mails", { Rule: " ", Emails: [a] }],
      ["an empty e-mail", { Rule: "", Emails: [""] }]
    ] as const)("bulk delete by %s deletes nobody", ([, body]) =>
      Effect.gen(function* () {
        yield* add(a, b)
        refusedWith(yield* askJson("POST", "/contacts/delete", body), 400)
        assert.deepStrictEqual(yield* present(a, b), [a, b])
      })
    )

    it.effect("bulk delete by a rule and e-mails stays a conflict", () =>
      Effect.gen(function* () {
        yield* add(a, b)
        const text = refusedWith(yield* askJson("POST", "/contacts/delete", { Rule: "All", Emails: [a] }), 400)
        assert.match(text, /either a rule or a list of e-mails, not both/)
        assert.deepStrictEqual(yield* present(a, b), [a, b])
      })
    )

    it.effect.each(["rule=", "emails=", `rule=&emails=${a}`, "rule=All&emails=", "Rule=", "emails[]=", "rule=+"])(
      "but an export by %s does not export everybody",
      (query) => Effect.map(ask("POST", `/contacts/export?${query}`), (answer) => void refusedWith(answer, 400))
    )
  })

  describe("the names of a query", () => {
    it.effect.each(["listnames", "listNames", "LISTNAMES", "listnames[]", "listNames%5B%5D", "list_names"])(
      "are read as they are spelt: %s",
      (name) =>
        Effect.gen(function* () {
          const list = `spelt ${name}`
          succeeded(
            yield* askJson("POST", `/contacts?${name}=${encodeURIComponent(list)}&${name}=second`, [{ Email: a }])
          )
          assert.isTrue(yield* isList(list))
        })
    )

    it.effect("are the same in all their spellings: lists are put together", () =>
      Effect.gen(function* () {
        const query = "listnames=One&listNames[]=Two&listnames=Three&LISTNAMES=Four"
        succeeded(yield* askJson("POST", `/contacts?${query}`, [{ Email: a }]))
        for (const list of ["One", "Two", "Three", "Four"]) assert.isTrue(yield* isList(list), list)
        yield* add(a, b)
        assert.sameMembers(yield* exported(`?emails=${a}&Emails[]=${b}`), [a, b])
      })
    )

    it.effect("are read by every operation", () =>
      Effect.gen(function* () {
        yield* add(a, b, "first@cased.example", "second@cased.example")
        const rule = encodeURIComponent("email ends-with '@cased.example'")
        const listed = succeeded(yield* ask("GET", `/contacts?Rule=${rule}&Limit=1&OFFSET=1`))
        assert.deepStrictEqual(addresses(listed), ["second@cased.example"])
        assert.deepStrictEqual(yield* exported(`?FileFormat=Json&RULE=${encodeURIComponent(`email = '${b}'`)}`), [b])
        assert.deepStrictEqual(yield* exported(`?emails[]=${a}&file_format=Json`), [a])
        const of = "of-case@wild.example"
        const made = { Name: "cased", AccessLevel: ["Export"], Subaccount: of }
        succeeded(yield* askJson("POST", "/security/apikeys", made), 201)
        for (const name of ["SubAccount", "SUBACCOUNT", "subaccount[]", "sub_account"]) {
          assert.include((yield* ask("GET", `/security/apikeys?${name}=${of}`)).text, "cased", name)
          succeeded(yield* ask("GET", `/security/apikeys/cased?${name}=${of}`))
        }
        succeededEmpty(yield* ask("DELETE", `/security/apikeys/cased?SubAccount=${of}`))
        for (const name of ["listName", "listname", "LISTNAME", "list_name", "ListName[]"]) {
          const answer = yield* ask("POST", `/contacts/import?${name}=Nowhere`, {
            headers: form,
            body: importOf(contactFile)
          })
          assert.include(refusedWith(answer, 400), '"Nowhere"', name)
        }
      })
    )

    it.effect.each([
      ["GET", "/contacts?limit=1&Limit=1", "limit"],
      ["GET", "/contacts?offset[]=0&OFFSET=0", "offset"],
      ["GET", "/contacts?rule=All&Rule=All", "ule"],
      ["GET", "/security/apikeys?subaccount=x@wild.example&SubAccount=x@wild.example", "subaccount"],
      ["POST", "/contacts/export?fileFormat=Csv&fileformat=Json", "fileFormat"],
      ["POST", "/contacts/import?listName=One&list_name=One", "listName"]
    ] as const)("say one thing once: %s %s", ([method, path, field]) =>
      Effect.gen(function* () {
        assert.match(refusedWith(yield* ask(method, path), 400), new RegExp(`^Invalid \\S*${field}:`))
      })
    )

    it.effect.each([
      ["GET", "/contacts?lmit=5", "lmit", /did you mean "limit"\?.*limit, offset, sort, afterContact, rule/],
      ["GET", "/contacts?page=2", "page", /limit, offset, sort, afterContact, rule/],
      ["GET", "/contacts?limit=5&status=Active", "status", /limit, offset, sort, afterContact, rule/],
      ["GET", "/contacts?limit[0]=5", "limit[0]", /limit/],
      ["GET", `/contacts/${a}?fields=Email`, "fields", /it takes lists$/],
      ["DELETE", `/contacts/${a}?force`, "force", /no parameters/],
      ["GET", "/contacts/export/00000000-0000-4000-8000-000000000000/status?wait=1", "wait", /no parameters/],
      ["POST", "/contacts/export?format=Json", "format", /fileFormat/],
      ["POST", "/contacts/export?email=a@wild.example", "email", /did you mean "emails"\?/],
      ["POST", "/contacts/import?lists=One", "lists", /listName/],
      ["GET", "/security/apikeys?account=x@wild.example", "account", /subaccount/],
      ["GET", "/security/smtp/x@wild.example?acount=x", "acount", /subaccount/]
    ] as const)("that nobody knows are refused by name: %s %s", ([method, path, name, hint]) =>
      Effect.gen(function* () {
        yield* add(a)
        const text = refusedWith(yield* ask(method, path), 400)
        assert.isTrue(text.startsWith(`Invalid ${name}: `), text)
        assert.match(text, hint)
        assert.deepStrictEqual(yield* present(a), [a])
      })
    )

    it.effect("that are unknown stop a change, too", () =>
      Effect.gen(function* () {
        refusedWith(yield* askJson("POST", "/contacts?lists=One", [{ Email: "unlisted@wild.example" }]), 400)
        yield* add(a)
        refusedWith(yield* askJson("PUT", `/contacts/${a}?FirstName=X`, { LastName: "Y" }), 400)
        assert.notInclude((yield* ask("GET", `/contacts/${a}`)).text, '"Y"')
        assert.deepStrictEqual(yield* present("unlisted@wild.example"), [])
        const keyed = { headers: { "Idempotency-Key": "wild-1" } }
        refusedWith(yield* askJson("POST", "/contacts?lists=One", [{ Email: "keyed@wild.example" }], keyed), 400)
        succeeded(yield* askJson("POST", "/contacts?listnames=One", [{ Email: "keyed@wild.example" }], keyed))
      })
    )

    it.effect.each([
      ["POST", "/security/apikeys", { Name: "elsewhere", AccessLevel: ["Export"] }],
      ["PUT", "/security/apikeys/administrator", { Name: "administrator", AccessLevel: ["Export"] }],
      ["POST", "/security/smtp", { Name: "elsewhere@wild.example" }],
      ["PUT", "/security/smtp/elsewhere@wild.example", { Name: "elsewhere@wild.example" }]
    ] as const)("are no place for the subaccount of a %s %s", ([method, path, body]) =>
      Effect.gen(function* () {
        for (const name of ["subaccount", "SubAccount"]) {
          const text = refusedWith(yield* askJson(method, `${path}?${name}=x@wild.example`, body), 400)
          assert.match(text, new RegExp(`^Invalid ${name}: .*\\bSubaccount\\b.*body`))
        }
        assert.notInclude((yield* ask("GET", "/security/apikeys")).text, "elsewhere")
        assert.notInclude((yield* ask("GET", "/security/smtp")).text, "elsewhere")
      })
    )

    it.effect("are not repeated if they may be an address or a key", () =>
      Effect.gen(function* () {
        const { administratorKey } = yield* Wire
        for (const name of [
          "ann@wild.example",
          administratorKey,
          "x".repeat(200),
          "a b",
          "\u0000",
          "__proto__",
          "%ff"
        ]) {
          const text = refusedWith(yield* ask("GET", `/contacts?${encodeURIComponent(name)}`), 400)
          if (name !== "__proto__") assert.notInclude(text, name)
          assert.match(text, /limit, offset, sort, afterContact, rule/)
        }
      })
    )

    it.effect("a limit over 1000 is refused", () =>
      Effect.gen(function* () {
        for (const limit of ["1001", "1500", "9007199254740991"]) {
          const text = refusedWith(yield* ask("GET", `/contacts?limit=${limit}`), 400)
          assert.match(text, /^Invalid limit: .*\b1000\b/)
        }
        succeeded(yield* ask("GET", "/contacts?limit=1000"))
      })
    )
  })

  describe("a body where none belongs", () => {
    const operations = [
      ["GET", `/contacts/${a}`],
      ["GET", "/contacts"],
      ["GET", "/contacts/export/00000000-0000-4000-8000-000000000000/status"],
      ["GET", "/security/apikeys"],
      ["GET", "/security/apikeys/administrator"],
      ["GET", "/security/smtp"],
      ["DELETE", `/contacts/${b}`],
      ["DELETE", "/security/apikeys/nobody"],
      ["DELETE", "/security/smtp/nobody@wild.example"]
    ] as const
    const exporting = ["POST", "/contacts/export"] as const

    it.effect.each(operations)("is refused: %s %s", ([method, path]) =>
      Effect.gen(function* () {
        yield* add(a, b)
        const large = "x".repeat(200_000)
        for (const body of [
          '{"Rule": "All"}',
          '{"rule": ""}',
          "[1]",
          '""',
          "a=b",
          "x",
          "{}{}",
          Buffer.from([0xff]),
          large
        ]) {
          for (const sent of [body, [body]]) {
            const text = refusedWith(yield* ask(method, path, { headers: json, body: sent }), 400)
            assert.match(text, /^Invalid body: /)
          }
        }
        assert.deepStrictEqual(yield* present(a, b), [a, b])
      })
    )

    it.effect("is refused by an export unless it says by which rule or which e-mails, and a form always", () =>
      Effect.gen(function* () {
        yield* add(a, b)
        const bodies: ReadonlyArray<readonly [body: string, words: RegExp]> = [
          ['{"rule": "All"}', /^Invalid body: .*\bRule\b.*\bEmails\b/],
          ['{"Other": 1}', /^Invalid body: .*\bRule\b.*\bEmails\b/],
          ['{"Rule": "All", "FileFormat": "Json"}', /^Invalid fileFormat: .*query/],
          ['{"Rule": "All", "Emails": ["a@wild.example"]}', /not both/],
          ['{"Rule": 1}', /^Invalid Rule: /],
          ["[1]", /^Invalid body: /],
          ["x", /^Invalid body: /]
        ]
        for (const [body, words] of bodies) {
          assert.match(refusedWith(yield* ask(...exporting, { headers: json, body }), 400), words)
        }
        const twice = yield* askJson("POST", "/contacts/export?rule=All", { Rule: "All" })
        assert.match(refusedWith(twice, 400), /^Invalid body: .*not in both/)
        const form = { "Content-Type": "application/x-www-form-urlencoded" }
        refusedWith(yield* ask(...exporting, { headers: form, body: "rule=All" }), 415)
      })
    )

    it.effect.each([...operations, exporting])("is nothing where it says nothing: %s %s", ([method, path]) =>
      Effect.gen(function* () {
        yield* add(a, b)
        const { status } = yield* ask(method, path)
        assert.notInclude([400, 411, 413, 415], status)
        for (const body of ["", "{}", " { } ", "[ ]", "null", "null\n"]) {
          for (const sent of [body, [body]]) {
            for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
              yield* add(a, b)
              const answer = yield* ask(method, path, { headers: { "Content-Type": type }, body: sent })
              assert.strictEqual(answer.status, status, `${String(sent)} ${answer.text}`)
            }
          }
        }
      })
    )

    it.effect("is the same export for the same key as none", () =>
      Effect.gen(function* () {
        yield* add(a, b)
        const keyed = { "Idempotency-Key": "wild-export" }
        const path = `/contacts/export?emails=${a}`
        const first = succeeded(yield* ask("POST", path, { headers: { ...json, ...keyed }, body: "{}" }), 202)
        const again = succeeded(yield* ask("POST", path, { headers: keyed }), 202)
        assert.strictEqual(textField(again, "PublicExportID"), textField(first, "PublicExportID"))
        refusedWith(yield* ask("POST", path, { headers: { ...json, ...keyed }, body: '{"rule":"All"}' }), 400)
        const inBody = yield* askJson("POST", "/contacts/export", { Emails: [a] }, { headers: keyed })
        assert.strictEqual(textField(succeeded(inBody, 202), "PublicExportID"), textField(first, "PublicExportID"))
      })
    )

    it.effect("is a form for an import and nothing else", () =>
      Effect.gen(function* () {
        const path = `/contacts/import?fileUrl=${encodeURIComponent("https://files.example.com/c.csv")}`
        for (const type of ["application/json", "text/csv", "application/x-www-form-urlencoded"]) {
          const asked = { headers: { "Content-Type": type }, body: '{"listName":"One"}' }
          assert.match(refusedWith(yield* ask("POST", path, asked), 400), /^Invalid body: .*multipart\/form-data/)
          for (const body of ["", "{}", ["null"]]) {
            const answer = yield* ask("POST", path, { headers: { "Content-Type": type }, body })
            assert.match(refusedWith(answer, 400), /^The import was refused: /)
          }
        }
      })
    )
  })
})
