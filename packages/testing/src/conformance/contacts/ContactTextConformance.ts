/**
 * Texts, on every layer: a name comes back unchanged, and a text that cannot be stored is refused rather than changed.
 */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactsService, type CustomFields, EmailAddress } from "@roster/domain"
import { Effect } from "effect"
import { place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

/** Addresses that are difficult in a path, a query, a form or SQL. */
export const awkwardLocals = [
  "a/b",
  "a?b",
  "a#b",
  "a%b",
  "a%2fb",
  "a%zz",
  "a&b=c",
  "a+b",
  "o'brien",
  "a''--",
  "{a}|^`~",
  "delete",
  "*",
  "$1",
  "😀",
  "x".repeat(64)
]

/** Texts that are difficult in formats and languages. None has a NUL. */
export const awkwardTexts = [
  "😀👩‍👩‍👧",
  "\u2028 and \u2029",
  "Zoe\u0301 is not Zo\u00e9",
  "عربى \u202eمختلط",
  "\"quoted\", 'quoted' \\ back \\u0041 \\n",
  "two\r\nlines\nand\rmore\ttab",
  Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)).join("") + "\u007f\u0085\ufeff\ufffd\uffff",
  "\ufeffa mark before a \ufffd",
  "  space at the ends  ",
  "</Contact><!-- & ]]> &amp; &#65;",
  "Robert'); DROP TABLE contacts;--",
  "%s %00 %2e ${x} {{y}}",
  "null",
  "=1+1",
  "+49 30 1234",
  "-5",
  "@SUM(A1)",
  "\tindented",
  "'=quoted formula",
  "x".repeat(5000)
]

/** Custom fields with the names of object internals such as `__proto__`, created as own properties. */
export const awkwardFields: CustomFields = Object.fromEntries([
  ["__proto__", "polluted"],
  ["constructor", "c"],
  ["toString", "t"],
  ["hasOwnProperty", "h"],
  ["1", "a number"],
  ["a.b", "dotted"],
  ["a b", "spaced"],
  ["City", "upper"],
  ["Stra\u00dfe", "no strasse"],
  ["strasse", "lower"],
  ["$.x", "a path"],
  ['"', "a quote"],
  ['5"', "a name that a reader of JSON has taken for the next one"],
  ["5\\", "a backslash at the end"],
  ["\\n", "a backslash and a letter"],
  ["=x", "a formula"],
  ["naïve 😀", "non-ASCII"]
])

export const contactTextConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: texts", () => {
    it.effect.each(awkwardLocals)("keeps a contact %s", (local) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email: at, rule } = place()
        const email = at(local)
        yield* contacts.add([{ email }, { email: at("other") }])
        assert.strictEqual((yield* contacts.get(email)).email, email)
        assert.strictEqual((yield* contacts.update(email, { firstName: "F" })).firstName, "F")
        yield* contacts.delete(email)
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => contact.email),
          [at("other")]
        )
      })
    )

    it.effect("keeps a contact with 254 characters, percent signs where they have to be escaped", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain } = place()
        const label = (size: number) => "d".repeat(size)
        const rest = 254 - 64 - "@".length - 122 - ".".length - domain.length
        const email = EmailAddress.make(`${"%/".repeat(32)}@${label(60)}.${label(60)}.${label(rest)}.${domain}`)
        assert.strictEqual(email.length, 254)
        yield* contacts.add([{ email }])
        assert.strictEqual((yield* contacts.get(email)).email, email)
        assert.strictEqual((yield* contacts.update(email, { lastName: "L" })).lastName, "L")
        yield* contacts.delete(email)
        yield* refused(contacts.get(email), "ContactNotFound")
      })
    )

    it.effect("keeps names and custom fields as they are", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const payloads = awkwardTexts.map((text, i) => ({
          email: email(`t${i}`),
          firstName: text,
          lastName: `last ${text}`,
          customFields: { text }
        }))
        yield* contacts.add(payloads)
        const listed = yield* contacts.list({ rule, limit: 100 })
        assert.deepStrictEqual(
          listed.map(({ customFields, email, firstName, lastName }) => ({ email, firstName, lastName, customFields })),
          payloads
        )
        for (const [i, text] of awkwardTexts.entries()) {
          const updated = yield* contacts.update(email(`t${i}`), { customFields: { again: text } })
          assert.deepStrictEqual(updated.customFields, { text, again: text })
        }
      })
    )

    it.effect("keeps custom fields of every name apart", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("fields")
        yield* contacts.add([{ email, customFields: awkwardFields }])
        const expected = Object.entries(awkwardFields).sort()
        assert.deepStrictEqual(Object.entries((yield* contacts.get(email)).customFields ?? {}).sort(), expected)
        const changes = Object.fromEntries(expected.map(([name]) => [name, "changed"]))
        const updated = yield* contacts.update(email, { customFields: changes })
        assert.deepStrictEqual(Object.entries(updated.customFields ?? {}).sort(), Object.entries(changes).sort())
        assert.isUndefined(Reflect.get({}, "polluted"))
      })
    )

    it.effect("finds by awkward texts", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, where } = place()
        yield* contacts.add([
          { email: email("q"), firstName: 'O\'Neil "Bob" 100%_', customFields: { constructor: "x'y" } },
          { email: email("r") }
        ])
        const found = (condition: string) =>
          Effect.map(contacts.list({ rule: where(condition) }), (list) => list.map((contact) => contact.email))
        assert.deepStrictEqual(yield* found("firstname = 'O''Neil \"Bob\" 100%_'"), [email("q")])
        assert.deepStrictEqual(yield* found("firstname contains '%_'"), [email("q")])
        assert.deepStrictEqual(yield* found("firstname contains '_%'"), [])
        assert.deepStrictEqual(yield* found("constructor = 'x''y'"), [email("q")])
      })
    )

    it.effect.each([
      ["a NUL", "a\0b"],
      ["a lone surrogate", "a\ud800"]
    ] as const)("refuses a text with %s", ([, text]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([{ email: email("there"), firstName: "F" }])
        for (const profile of [
          { firstName: text },
          { lastName: text },
          { customFields: { x: text } },
          { customFields: { [text]: "x" } }
        ]) {
          yield* refused(contacts.add([{ email: email("new"), ...profile }]), "InvalidInput")
          yield* refused(contacts.update(email("there"), profile), "InvalidInput")
        }
        yield* refused(contacts.add([{ email: email("new") }], { listNames: [text] }), "InvalidInput")
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => contact.email),
          [email("there")]
        )
      })
    )

    it.effect.each(["Email", "email", "DateAdded", "source", "ConsentIP", "TotalSent", "", "  ", " padded "])(
      "refuses a custom field called %j, which no file could give back",
      (name) =>
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          const { email, rule } = place()
          const customFields = { [name]: "x" }
          const error = yield* refused(contacts.add([{ email: email("a"), customFields }]), "InvalidInput")
          assert.match(error.field, /customFields/)
          if (/\w/.test(name.trim()) && name === name.trim()) {
            // What is reserved, and what to do.
            for (const word of [`"${name}"`, "another name"]) assert.include(error.issue, word)
          }
          assert.deepStrictEqual(yield* contacts.list({ rule }), [])
          yield* contacts.add([{ email: email("a") }])
          yield* refused(contacts.update(email("a"), { customFields }), "InvalidInput")
        })
    )
  })
}
