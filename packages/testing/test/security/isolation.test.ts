/**
 * One subaccount asks for what another has: the answers are those that what does not exist gets, whole.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { type Answered, ask, askJson, type Asked, jsonOf, succeeded, textField, Wire } from "../wire/Wire.ts"
import { makeKey, seenOf } from "./Access.ts"

const levels = ["ViewContacts", "ModifyContacts", "Export", "Security", "ModifyAccessTokens", "SendSmtp", "SendHttp"]

/** Equally long, since nobody is to learn from a length either. */
const theirs = {
  account: "bbbb@example.com",
  contact: "held.by.b@example.com",
  key: "key of b",
  login: "login-of-b@example.com",
  list: "list of b"
}
const nobodys: typeof theirs = {
  account: "cccc@example.com",
  contact: "held.by.c@example.com",
  key: "key of c",
  login: "login-of-c@example.com",
  list: "list of c"
}

interface Names {
  readonly account: string
  readonly contact: string
  readonly key: string
  readonly login: string
  readonly list: string
  readonly exportId: string
}

type Question = readonly [what: string, ask: (names: Names, key: string) => Effect.Effect<Answered, never, Wire>]

const json =
  (method: string, path: (names: Names) => string, body: (names: Names) => unknown): Question[1] =>
  (names, key) =>
    askJson(method, path(names), body(names), { key })

const plain =
  (method: string, path: (names: Names) => string, asked: Asked = {}): Question[1] =>
  (names, key) =>
    ask(method, path(names), { ...asked, key })

const encoded = encodeURIComponent

const form = (boundary: string) => ({
  headers: { "Content-Type": `multipart/form-data; boundary=${boundary}` },
  body: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nEmail\r\n--${boundary}--\r\n`
})

const credentialQuestions = (resource: "apikeys" | "smtp", name: (names: Names) => string): ReadonlyArray<Question> => {
  const path = (names: Names) => `/security/${resource}/${encoded(name(names))}`
  const payload = resource === "apikeys" ? { AccessLevel: ["Export"] } : {}
  return [
    [`load from ${resource}`, plain("GET", path)],
    [`delete from ${resource}`, plain("DELETE", path)],
    [`update in ${resource}`, json("PUT", path, (names) => ({ Name: name(names), ...payload }))],
    [`widen in ${resource}`, json("PUT", path, (names) => ({ Name: name(names), AccessLevel: ["ModifyBilling"] }))],
    [`rename in ${resource}`, json("PUT", path, () => ({ Name: "renamed@example.com", ...payload }))],
    [`load from ${resource} of the account`, plain("GET", (names) => `${path(names)}?subaccount=${names.account}`)],
    [
      `delete from ${resource} of the account`,
      plain("DELETE", (names) => `${path(names)}?subaccount=${names.account}`)
    ],
    [
      `update in ${resource} of the account`,
      json("PUT", path, (names) => ({ Name: name(names), ...payload, Subaccount: names.account }))
    ],
    [
      `widen in ${resource} of the account`,
      json("PUT", path, (names) => ({
        Name: name(names),
        AccessLevel: ["ModifyBilling"],
        Expires: null,
        Subaccount: names.account
      }))
    ],
    [`list ${resource} of the account`, plain("GET", (names) => `/security/${resource}?subaccount=${names.account}`)],
    [
      `make one in ${resource} of the account`,
      json(
        "POST",
        () => `/security/${resource}`,
        (names) => ({
          Name: "made@example.com",
          ...payload,
          Subaccount: names.account
        })
      )
    ]
  ]
}

const questions: ReadonlyArray<Question> = [
  ["load a contact", plain("GET", (names) => `/contacts/${names.contact}`)],
  ["load a contact in capitals", plain("GET", (names) => `/contacts/${names.contact.toUpperCase()}`)],
  [
    "update a contact",
    json(
      "PUT",
      (names) => `/contacts/${names.contact}`,
      () => ({ FirstName: "taken" })
    )
  ],
  ["delete a contact", plain("DELETE", (names) => `/contacts/${names.contact}`)],
  ["list by rule", plain("GET", (names) => `/contacts?rule=${encoded(`email = '${names.contact}'`)}`)],
  [
    "delete by e-mails",
    json(
      "POST",
      () => "/contacts/delete",
      (names) => ({ Emails: [names.contact] })
    )
  ],
  [
    "delete by rule",
    json(
      "POST",
      () => "/contacts/delete",
      (names) => ({ Rule: `email = '${names.contact}'` })
    )
  ],
  ["look at an export", plain("GET", (names) => `/contacts/export/${names.exportId}/status`)],
  [
    "import onto a list",
    plain("POST", (names) => `/contacts/import?listName=${encoded(names.list)}`, form("border-of-the-test"))
  ],
  ...credentialQuestions("apikeys", ({ key }) => key),
  ...credentialQuestions("smtp", ({ login }) => login)
]

const field = (value: unknown, name: string) => textField(Array.isArray(value) ? value[0] : value, name)

/** Everything that an account has, as its own key sees it. */
const allOf = Effect.fnUntraced(function* (key: string, exportId: string) {
  const paths = ["/contacts", "/security/apikeys", "/security/smtp", `/contacts/export/${exportId}/status`]
  const answers = yield* Effect.forEach(paths, (path) => ask("GET", path, { key }))
  return answers.map((answer) => JSON.stringify(succeeded(answer)).replaceAll(/"LastUse":[^,}]*/g, ""))
})

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("isolation", (it) => {
  it.effect(
    "S10 what a subaccount has is to another one as if it did not exist, in every operation that names it",
    () =>
      Effect.gen(function* () {
        const a = yield* makeKey({ Name: "key of a", AccessLevel: levels, Subaccount: "aaaa@example.com" })
        const b = yield* makeKey({ Name: theirs.key, AccessLevel: levels, Subaccount: theirs.account })
        succeeded(yield* askJson("POST", "/security/smtp", { Name: theirs.login }, { key: b }), 201)
        const added = askJson("POST", `/contacts?listnames=${encoded(theirs.list)}`, [{ Email: theirs.contact }], {
          key: b
        })
        succeeded(yield* added)
        const exported = succeeded(yield* ask("POST", "/contacts/export", { key: b }), 202)
        const exportId = textField(exported, "PublicExportID")
        const status = ask("GET", `/contacts/export/${exportId}/status`, { key: b })
        yield* eventually(status, ({ text }) => text === '"Ready"')
        const before = yield* allOf(b, exportId)

        const real = { ...theirs, exportId }
        const unreal = { ...nobodys, exportId: "00000000-0000-4000-8000-000000000000" }
        const names = [...Object.values(real), ...Object.values(unreal)]
        const shown = names.flatMap((name) => [name, encoded(name), name.toUpperCase()])
        for (const [what, question] of questions) {
          const [answer, expected] = [yield* question(real, a), yield* question(unreal, a)]
          assert.deepStrictEqual(seenOf(answer, shown), seenOf(expected, shown), what)
          assert.notInclude([500, 501, 502, 503], answer.status, what)
        }
        assert.deepStrictEqual(yield* allOf(b, exportId), before)
        // The questions are real ones: to the subaccount itself each of them that reads is a success.
        for (const [what, question] of questions.filter(([what]) => /^(?:load|look|import)/.test(what))) {
          assert.include([200, 202], (yield* question(real, b)).status, what)
        }
      })
  )

  it.effect(
    "S10 a key of a subaccount is the same to others as one that does not exist, whatever it opens elsewhere",
    () =>
      Effect.gen(function* () {
        const a = yield* makeKey({ Name: "solo", AccessLevel: levels, Subaccount: "solo@example.com" })
        // Of the main account it sees nothing either.
        succeeded(yield* askJson("POST", "/contacts?listnames=main", [{ Email: "of.main@example.com" }]))
        const questionsOfMain: ReadonlyArray<readonly [string, string]> = [
          ["/contacts/of.main@example.com", "/contacts/nobody.is@example.com"],
          ["/security/apikeys/administrator", "/security/apikeys/administratrix"]
        ]
        for (const method of ["GET", "DELETE"]) {
          for (const [real, unreal] of questionsOfMain) {
            const shown = [real, unreal].map((path) => path.slice(path.lastIndexOf("/") + 1))
            assert.deepStrictEqual(
              seenOf(yield* ask(method, real, { key: a }), shown),
              seenOf(yield* ask(method, unreal, { key: a }), shown)
            )
          }
        }
        assert.deepStrictEqual(jsonOf(yield* ask("GET", "/contacts", { key: a })), [])
        // Nor does the main account see what the subaccount has.
        succeeded(yield* askJson("POST", "/contacts", [{ Email: "of.solo@example.com" }], { key: a }))
        assert.strictEqual((yield* ask("GET", "/contacts/of.solo@example.com")).status, 404)
        const contacts = [succeeded(yield* ask("GET", "/contacts", { key: a }))].flat()
        assert.deepStrictEqual(
          contacts.map((contact) => field(contact, "Email")),
          ["of.solo@example.com"]
        )
        const keys = [succeeded(yield* ask("GET", "/security/apikeys", { key: a }))].flat()
        assert.deepStrictEqual(
          keys.map((key) => field(key, "Name")),
          ["solo"]
        )
      })
  )

  it.effect("S10 an export by e-mails holds nothing of another account", () =>
    Effect.gen(function* () {
      const [d = "", e = ""] = yield* Effect.forEach(["d", "e"], (name) =>
        makeKey({ Name: `key of ${name}`, AccessLevel: levels, Subaccount: `${name}@example.com` })
      )
      succeeded(yield* askJson("POST", "/contacts", [{ Email: "of.d@example.com" }], { key: d }))
      const asked = ask("POST", "/contacts/export?emails=of.d%40example.com&fileFormat=Json", { key: e })
      const link = succeeded(yield* asked, 202)
      const id = textField(link, "PublicExportID")
      yield* eventually(ask("GET", `/contacts/export/${id}/status`, { key: e }), ({ text }) => text === '"Ready"')
      const url = new URL(textField(link, "Link"))
      const file = yield* ask("GET", url.pathname.replace(/^\/v4/, ""), { key: null })
      assert.deepStrictEqual(jsonOf(file), [])
    })
  )

  it.effect("S10 the Idempotency-Key of one account means nothing in another", () =>
    Effect.gen(function* () {
      const [f = "", g = ""] = yield* Effect.forEach(["f", "g"], (name) =>
        makeKey({ Name: `key of ${name}`, AccessLevel: levels, Subaccount: `${name}@example.com` })
      )
      const headers = { "Idempotency-Key": "the-same" }
      const add = (key: string, Email: string) => askJson("POST", "/contacts", [{ Email }], { key, headers })
      succeeded(yield* add(f, "of.f@example.com"))
      assert.strictEqual(field(succeeded(yield* add(g, "of.g@example.com")), "Email"), "of.g@example.com")
      assert.strictEqual((yield* add(f, "another@example.com")).status, 409)
      const contacts = [succeeded(yield* ask("GET", "/contacts", { key: g }))].flat()
      assert.isTrue(contacts.every(Predicate.isObject))
      assert.deepStrictEqual(
        contacts.map((contact) => field(contact, "Email")),
        ["of.g@example.com"]
      )
    })
  )
})
