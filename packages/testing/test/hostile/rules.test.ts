/**
 * S40, S41, S43, S44 Rules and filters that want more than they say: refused with the reason, or taken to the letter; and no
 * row is ever touched that was not meant.
 */
import { assert, layer } from "@effect/vitest"
import {
  ContactFilter,
  ContactsService,
  EmailAddress,
  matchesRule,
  maximumEmailsPerDelete,
  parseRule,
  RuleText
} from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { DateTime, Effect, Result, Schema } from "effect"
import { askServe } from "../durability/KillableServe.ts"
import { contactsIn, countOf, rowsOf } from "../durability/StoreLook.ts"
import { layerMemory } from "../../src/index.ts"
import { refused } from "../../src/conformance/cases/Refused.ts"
import { Hostile } from "./Hostile.ts"
import { continued, injections, tautologies } from "./HostileRules.ts"
import { rawRequest } from "./RawRequest.ts"

const ErrorBody = Schema.fromJsonString(Schema.Struct({ Error: Schema.String }))
const Emails = Schema.fromJsonString(Schema.Array(Schema.Struct({ Email: Schema.String })))

const ask = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  return yield* askServe((yield* Hostile).serve, method, path, body)
})

const succeeded = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const { status, text } = yield* ask(method, path, body)
  assert.strictEqual(status, 200, text.slice(0, 500))
  return text
})

/** The text of a refusal, which is 400 unless said. */
const refusal = Effect.fnUntraced(function* (method: string, path: string, body?: object, status = 400) {
  const answer = yield* ask(method, path, body)
  assert.strictEqual(answer.status, status, answer.text.slice(0, 500))
  const { Error } = yield* Effect.orDie(Schema.decodeEffect(ErrorBody)(answer.text))
  return Error
})

const selectedBy = (rule: string) =>
  succeeded("GET", `/contacts?limit=1000&rule=${encodeURIComponent(rule)}`).pipe(
    Effect.flatMap((text) => Effect.orDie(Schema.decodeEffect(Emails)(text))),
    Effect.map((contacts) => contacts.map(({ Email }) => Email))
  )

/** All of the store that a rule could want to touch, past everything that the service says. */
const everything = Effect.map(Hostile, ({ place }) => ({
  contacts: contactsIn(place),
  credentials: countOf(place, "credentials"),
  schema: rowsOf(place, Schema.Struct({ name: Schema.String }), "SELECT name FROM sqlite_master ORDER BY name")
}))

/** That none of these ways to use a rule is taken, and that nothing comes of them. */
const refusedEverywhere = Effect.fnUntraced(function* (rule: string) {
  const before = yield* everything
  const query = encodeURIComponent(rule)
  const texts = [
    yield* refusal("POST", "/contacts/delete", { Rule: rule }),
    // What fits into an address.
    ...(query.length > 12_000
      ? []
      : [yield* refusal("GET", `/contacts?rule=${query}`), yield* refusal("POST", `/contacts/export?rule=${query}`)])
  ]
  assert.deepStrictEqual(yield* everything, before)
  return texts
})

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 hostile rules, on the wire", (it) => {
  const named = (text: string, n: number) => ({
    Email: `c${n}@rule.example`,
    FirstName: text,
    CustomFields: { note: text }
  })

  const arrange = Effect.gen(function* () {
    yield* succeeded("POST", "/contacts/delete", { Rule: "All" })
    yield* succeeded("POST", "/contacts", [
      ...injections.map(named),
      { Email: "other@rule.example", FirstName: "Other", Status: "Bounced" }
    ])
  })

  it.effect("S40 an injection is no rule, alone or behind one", () =>
    Effect.gen(function* () {
      yield* arrange
      for (const text of [...injections, ...continued, ...injections.map((text) => `email = 'a' ${text}`)]) {
        // An unquoted word is the name of a custom field to the grammar, which is no way into the store either.
        for (const error of yield* refusedEverywhere(text)) assert.match(error, /^Invalid (?:rule|Rule)/, text)
      }
    })
  )

  it.effect("S40 an injection in quotes is a text: it finds the contact that is called so, and deletes no other", () =>
    Effect.gen(function* () {
      yield* arrange
      const { place } = yield* Hostile
      const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
      for (const [n, text] of injections.entries()) {
        const own = [`c${n}@rule.example`]
        for (const field of ["firstname", "note"]) {
          assert.deepStrictEqual(yield* selectedBy(`${field} = ${quoted(text)}`), own, text)
          assert.include(yield* selectedBy(`${field} contains ${quoted(text)}`), own[0], text)
        }
        const before = yield* everything
        yield* succeeded("POST", "/contacts/delete", { Rule: `firstname = ${quoted(text)}` })
        const { contacts, ...rest } = yield* everything
        assert.deepStrictEqual(
          contacts,
          before.contacts.filter(({ email }) => email !== own[0]),
          text
        )
        assert.deepStrictEqual(rest, { credentials: before.credentials, schema: before.schema })
      }
      assert.deepStrictEqual(
        contactsIn(place).map(({ email }) => email),
        ["other@rule.example"]
      )
    })
  )

  it.effect("S40 names of columns, tables and machinery are custom fields that nobody has", () =>
    Effect.gen(function* () {
      yield* arrange
      for (const name of [
        "account",
        "identity",
        "id",
        "rowid",
        "custom_fields",
        "first_name",
        "sqlite_master",
        "__proto__"
      ]) {
        assert.deepStrictEqual(yield* selectedBy(`${name} != ''`), [], name)
      }
    })
  )

  it.effect.each([
    ["10000 parentheses", `${"(".repeat(10_000)}a = 1${")".repeat(5000)}`, /nested too deep; the limit is 100/],
    ["101 parentheses", `${"(".repeat(101)}a = 1${")".repeat(101)}`, /nested too deep; the limit is 100/],
    ["1001 conditions", Array(1001).fill("a = 1").join(" AND "), /too many conditions; the limit is 1000/],
    ["5000 ANDs", Array(5001).fill("a = 1").join(" AND "), /50005 characters long; the limit is 16384/],
    ["5000 ORs of short names", Array(5001).fill("a=1").join(" OR "), /characters long; the limit is 16384/],
    ["1 MB", `email = '${"x".repeat(1024 * 1024)}'`, /1048586 characters long; the limit is 16384/],
    [
      "40000 IN values",
      `email IN (${Array.from({ length: 40_000 }, (_, n) => `'c${n}'`).join(",")})`,
      /the limit is 16384/
    ]
  ] as const)("S41 %s: refused, with the limit", ([, rule, limit]) =>
    Effect.gen(function* () {
      for (const error of yield* refusedEverywhere(rule)) assert.match(error, limit)
      yield* succeeded("GET", "/contacts?limit=1")
    })
  )

  it.effect.each([
    ["100 parentheses", `${"(".repeat(100)}email = 'c1@rule.example'${")".repeat(100)}`],
    ["1000 ANDs", ["email = 'c1@rule.example'", ...Array<string>(999).fill("x = ''")].join(" AND ")],
    ["1000 ORs", ["email = 'c1@rule.example'", ...Array<string>(999).fill("x = 1")].join(" OR ")],
    ["16384 characters", `email = 'c1@rule.example' OR x = '${"x".repeat(16_384 - 35)}'`]
  ] as const)("S41 %s, the most that is allowed, are read", ([what, rule]) =>
    Effect.gen(function* () {
      if (what.startsWith("16384")) assert.strictEqual(rule.length, 16_384)
      yield* arrange
      const { contacts } = yield* everything
      yield* succeeded("POST", "/contacts/delete", { Rule: rule })
      assert.deepStrictEqual(
        (yield* everything).contacts,
        contacts.filter(({ email }) => email !== "c1@rule.example")
      )
    })
  )

  it.effect.each([
    "",
    " ",
    "\t\r\n",
    "\u00a0",
    "\u200b",
    "\ufeff",
    "()",
    "''",
    "AND",
    "OR",
    "*",
    "1",
    "true",
    "ALL ALL",
    "(All)",
    "All OR email = 'a'",
    "NOT All"
  ])("S43 a bulk delete by the rule %j is refused", (rule) =>
    Effect.gen(function* () {
      yield* arrange
      // An empty rule in a body is none.
      const refused = rule === "" ? /^Invalid (?:rule|body)/ : /^Invalid rule/
      for (const error of yield* refusedEverywhere(rule)) assert.match(error, refused)
    })
  )

  it.effect.each(tautologies)("S43 a bulk delete by %s, which is everybody, is refused", (rule) =>
    Effect.gen(function* () {
      yield* arrange
      const before = yield* everything
      const everybody = yield* selectedBy(rule)
      assert.strictEqual(everybody.length, before.contacts.length)
      assert.match(
        yield* refusal("POST", "/contacts/delete", { Rule: rule }),
        /^Invalid Rule: it selects every contact/
      )
      assert.deepStrictEqual(yield* everything, before)
    })
  )

  it.effect.each(["All", "all", " ALL "])("S43 a bulk delete by %j deletes everybody", (rule) =>
    Effect.gen(function* () {
      yield* arrange
      yield* succeeded("POST", "/contacts/delete", { Rule: rule })
      assert.deepStrictEqual((yield* everything).contacts, [])
    })
  )

  it.effect.each([
    ["both", { Rule: "All", Emails: ["c1@rule.example"] }, /not both/],
    ["both, one blank", { Rule: " ", Emails: ["c1@rule.example"] }, /not both/],
    ["both, the other of a blank", { Rule: "All", Emails: [""] }, /not both/],
    ["neither, both empty", { Rule: "", Emails: [] }, /neither/],
    ["neither", {}, /neither/],
    ["neither, said", { Rule: null, Emails: null }, /neither/],
    ["names in another case", { rule: "All", emails: ["c1@rule.example"] }, /./],
    ["an empty list", { Emails: [] }, /neither/],
    ["a list with a blank", { Emails: ["c1@rule.example", ""] }, /Emails\[1\]/],
    ["a list with no text", { Emails: [{ Email: "c1@rule.example" }] }, /Emails/],
    ["a text for a list", { Emails: "c1@rule.example" }, /Emails/],
    ["a list for a rule", { Rule: ["All"] }, /Rule/]
  ] as const)("S44 a bulk delete of %s is refused", ([, body, reason]) =>
    Effect.gen(function* () {
      yield* arrange
      const before = yield* everything
      assert.match(yield* refusal("POST", "/contacts/delete", body), reason)
      assert.deepStrictEqual(yield* everything, before)
    })
  )

  it.effect("S44 an export of both is refused, and one of neither is of everybody", () =>
    Effect.gen(function* () {
      assert.match(yield* refusal("POST", "/contacts/export?rule=All&emails=a@rule.example"), /not both/)
      assert.strictEqual((yield* ask("POST", "/contacts/export")).status, 202)
    })
  )

  it.effect("S44 a million e-mails: 413 where the body is too large, else 400 with the limit; 100000 are deleted", () =>
    Effect.gen(function* () {
      yield* arrange
      const before = yield* everything
      const many = (count: number, domain: string) => Array.from({ length: count }, (_, n) => `c${n}@${domain}`)
      const long = many(1_000_000, `${"long-".repeat(8)}domain.example`)
      const { serve } = yield* Hostile
      const body = Buffer.from(JSON.stringify({ Emails: long }))
      const large = yield* rawRequest(serve, "POST", "/contacts/delete", { "Content-Length": body.length })
      const [, answer] = yield* Effect.all([large.send([body]), large.answer], { concurrency: 2 })
      assert.strictEqual(answer.status, 413)
      assert.match(answer.text, /8 MiB/)
      const short = yield* refusal("POST", "/contacts/delete", { Emails: many(150_000, "rule.example") })
      assert.match(short, /^Invalid Emails: 150000 addresses.*at most 100000/)
      const tiny = yield* refusal("POST", "/contacts/delete", { Emails: Array<string>(900_000).fill("a@b.c") })
      assert.match(tiny, /^Invalid body: it has more than 200000 names and elements/)
      assert.deepStrictEqual(yield* everything, before)
      yield* succeeded("POST", "/contacts/delete", { Emails: many(maximumEmailsPerDelete, "rule.example") })
      assert.deepStrictEqual(
        (yield* everything).contacts.map(({ email }) => email),
        ["other@rule.example"]
      )
    }).pipe(Effect.scoped)
  )
})

layer(layerMemory, { excludeTestServices: true, timeout: "60 seconds" })("S.4 hostile rules, of the service", (it) => {
  const arrange = Effect.gen(function* () {
    const contacts = yield* ContactsService
    yield* contacts.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("All") }))
    yield* contacts.add([
      { email: EmailAddress.make("a@rule.example"), firstName: "' OR '1'='1" },
      { email: EmailAddress.make("b@rule.example"), status: "Bounced", customFields: { x: "1" } }
    ])
    return contacts
  })
  const listed = Effect.flatMap(ContactsService, (contacts) => contacts.list())
  // What a caller in plain JavaScript can do: a rule that nobody checked.
  const unchecked = (rule: string) => ContactFilter.ByRule({ rule: RuleText.make(rule, { disableChecks: true }) })

  it.effect.each(["", " ", "\u00a0", "1 = 1", ...injections, ...continued])(
    "S40 %j that nobody checked is refused",
    (rule) =>
      Effect.gen(function* () {
        const contacts = yield* arrange
        const before = yield* listed
        const filter = unchecked(rule)
        yield* refused(contacts.deleteMany(filter), "InvalidRule")
        yield* refused(contacts.export({ filter }), "InvalidRule")
        yield* refused(contactFilterFromInput({ rule }), "InvalidRule")
        assert.deepStrictEqual(yield* listed, before)
      })
  )

  it.effect.each(tautologies)("S43 %s is refused, and is what it is taken for", (rule) =>
    Effect.gen(function* () {
      const contacts = yield* arrange
      const before = yield* listed
      const now = yield* DateTime.now
      const read = Result.getOrThrow(parseRule(rule))
      assert.isTrue(before.every((contact) => matchesRule(read, contact, now)))
      yield* refused(contacts.deleteMany(ContactFilter.ByRule({ rule: RuleText.make(rule) })), "InvalidInput")
      assert.deepStrictEqual(yield* listed, before)
    })
  )

  it.effect("S44 a filter of both, and one of an empty list, cannot be made of what comes from outside", () =>
    Effect.gen(function* () {
      yield* refused(contactFilterFromInput({ rule: "All", emails: ["a@rule.example"] }), "ConflictingFilter")
      yield* refused(contactFilterFromInput({ rule: "", emails: [] }), "ConflictingFilter")
      yield* refused(contactFilterFromInput({ emails: [] }), "InvalidInput")
    })
  )
})
