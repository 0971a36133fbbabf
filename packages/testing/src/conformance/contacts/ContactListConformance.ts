/** Many contacts at once, on every layer: pages, rules and bulk deletes. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import {
  ContactFilter,
  type ContactPayload,
  ContactsService,
  type EmailAddress,
  RawRule,
  rule,
  RuleText
} from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { Effect, Stream } from "effect"
import { impossibleEmails, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

/** An unchecked rule, as a caller in plain JavaScript can pass it. */
const unreadable = RuleText.make("status ~ (", { disableChecks: true })

const numbered = (email: (local: string) => EmailAddress, count: number): ReadonlyArray<ContactPayload> =>
  Array.from({ length: count }, (_, i) => ({ email: email(`n${String(i).padStart(4, "0")}`), firstName: `N${i}` }))

const emails = (contacts: ReadonlyArray<{ readonly email: string }>) => contacts.map((contact) => contact.email)

export const contactListConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: list", () => {
    it.effect("gives 20 where no limit is given", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add(numbered(email, 25))
        assert.strictEqual((yield* contacts.list({ rule })).length, 20)
        assert.strictEqual((yield* contacts.list()).length, 20)
      })
    )

    it.effect("gives pages that make up the whole, in the order of adding, whatever is updated meanwhile", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        // Not added in alphabetical order.
        const added = numbered(email, 45).toReversed()
        yield* contacts.add(added.slice(0, 30))
        yield* contacts.add(added.slice(30))
        const seen: Array<string> = []
        for (let offset = 0; ; offset += 10) {
          const page = yield* contacts.list({ rule, limit: 10, offset })
          if (page.length === 0) break
          seen.push(...emails(page))
          yield* contacts.update(email("n0040"), { lastName: `seen ${offset}` })
          yield* contacts.add([{ email: email("n0007") }])
        }
        assert.deepStrictEqual(seen, emails(added))
      })
    )

    it.effect("gives 1000 at most, and refuses to be asked for more", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const many = numbered(email, 1005)
        yield* contacts.add(many.slice(0, 1000))
        yield* contacts.add(many.slice(1000))
        assert.deepStrictEqual(emails(yield* contacts.list({ rule, limit: 1000 })), emails(many.slice(0, 1000)))
        assert.deepStrictEqual(
          emails(yield* contacts.list({ rule, limit: 1000, offset: 1000 })),
          emails(many.slice(1000))
        )
        for (const limit of [1001, 5000, Number.MAX_SAFE_INTEGER]) {
          for (const page of [{ limit }, { limit, rule }, { limit, offset: -1, rule: unreadable }]) {
            const { field, issue } = yield* refused(contacts.list(page), "InvalidInput")
            assert.strictEqual(field, "limit")
            assert.match(issue, /\b1000\b/)
          }
        }
      })
    )

    it.needing("own-account").effect("streams all that a rule selects, page behind page, in the order of adding", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const many = numbered(email, 2005)
        for (let at = 0; at < many.length; at += 1000) yield* contacts.add(many.slice(at, at + 1000))
        assert.deepStrictEqual(emails(yield* Stream.runCollect(contacts.stream({ rule }))), emails(many))
        const head = yield* Stream.runCollect(Stream.take(contacts.stream({ rule }), 3))
        assert.deepStrictEqual(emails(head), emails(many.slice(0, 3)))
        assert.isAtLeast((yield* Stream.runCollect(contacts.stream())).length, many.length)
      })
    )

    it.effect("gives nothing for a limit of 0 and behind the last contact", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add(numbered(email, 3))
        assert.deepStrictEqual(yield* contacts.list({ rule, limit: 0 }), [])
        assert.deepStrictEqual(yield* contacts.list({ rule, offset: 3 }), [])
        assert.deepStrictEqual(emails(yield* contacts.list({ rule, offset: 2 })), [email("n0002")])
      })
    )

    it.effect("selects by rule", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, where } = place()
        yield* contacts.add([
          { email: email("ann"), firstName: "Ann", status: "Engaged", customFields: { city: "Paris", age: "34" } },
          { email: email("anton"), firstName: "anton", status: "Active", customFields: { city: "Rome" } },
          { email: email("bea"), firstName: "Bea", lastName: "O'Neil", status: "Engaged" },
          { email: email("cy"), status: "Bounced", customFields: { city: "paris", age: "7" } }
        ])
        const select = (condition: string) =>
          Effect.map(contacts.list({ rule: where(condition) }), (found) =>
            found.map((contact) => contact.email.split("@")[0])
          )
        assert.deepStrictEqual(yield* select("Status = Engaged"), ["ann", "bea"])
        assert.deepStrictEqual(yield* select("FirstName starts-with 'AN'"), ["ann", "anton"])
        assert.deepStrictEqual(yield* select("city = 'Paris'"), ["ann", "cy"])
        assert.deepStrictEqual(yield* select("age > 30"), ["ann"])
        assert.deepStrictEqual(yield* select("lastname = 'O''Neil'"), ["bea"])
        assert.deepStrictEqual(yield* select("status = Bounced OR status = Active AND city = 'Rome'"), ["anton", "cy"])
        assert.deepStrictEqual(yield* select("(status = Bounced OR status = Active) AND city = 'Paris'"), ["cy"])
        assert.deepStrictEqual(yield* select("lastname = ''"), ["ann", "anton", "cy"])
        assert.deepStrictEqual(yield* select("source = ContactApi AND contactage < 1"), ["ann", "anton", "bea", "cy"])
        assert.deepStrictEqual(yield* select("dateadded < '2020-01-01'"), [])
      })
    )

    it.needing("own-account").effect("S40 refuses a rule that cannot be read", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* refused(contacts.list({ rule: unreadable }), "InvalidRule")
        yield* refused(Stream.runDrain(contacts.stream({ rule: unreadable })), "InvalidRule")
        yield* refused(contacts.deleteMany(ContactFilter.ByRule({ rule: unreadable })), "InvalidRule")
        yield* refused(contacts.export({ filter: ContactFilter.ByRule({ rule: unreadable }) }), "InvalidRule")
      })
    )

    it.needing("own-account").effect("reads a raw rule itself, and shows where it does not understand it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([{ email: email("a") }, { email: email("b") }])
        const raw = (text: string) => new RawRule({ text })
        assert.deepStrictEqual(emails(yield* contacts.list({ rule: raw(`${rule} AND email starts-with 'b'`) })), [
          email("b")
        ])
        const foreign = raw(`${rule} AND email LIKE 'b%'`)
        const filter = ContactFilter.ByRule({ rule: foreign })
        for (const operation of [
          Effect.asVoid(contacts.list({ rule: foreign })),
          Effect.asVoid(contacts.export({ filter })),
          contacts.deleteMany(filter)
        ]) {
          const { message, position } = yield* refused(operation, "InvalidRule")
          assert.strictEqual(position, foreign.text.indexOf("LIKE"))
          assert.match(message, /LIKE 'b%'\n +\^+ unknown operator "LIKE"/)
        }
        for (const blank of ["", " ", "\u00a0"]) {
          yield* refused(contacts.list({ rule: raw(blank) }), "InvalidRule")
          yield* refused(contacts.deleteMany(ContactFilter.ByRule({ rule: raw(blank) })), "InvalidRule")
        }
        yield* refused(contacts.deleteMany(ContactFilter.ByRule({ rule: raw("email != ''") })), "InvalidInput")
        assert.strictEqual((yield* contacts.list({ rule })).length, 2)
      })
    )

    it.effect("refuses counts that are none", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        for (const count of [-1, 1.5, NaN, Infinity]) {
          assert.strictEqual((yield* refused(contacts.list({ limit: count }), "InvalidInput")).field, "limit")
          assert.strictEqual((yield* refused(contacts.list({ offset: count }), "InvalidInput")).field, "offset")
          yield* refused(Stream.runDrain(contacts.stream({ offset: count })), "InvalidInput")
        }
      })
    )
  })

  it.describe("contacts: delete in bulk", () => {
    it.needing("own-account").effect("deletes what a rule selects", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule, where } = place()
        yield* contacts.add([
          { email: email("a"), status: "Stale" },
          { email: email("b") },
          { email: email("c"), status: "Stale" }
        ])
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule: where("status = Stale") }))
        assert.deepStrictEqual(emails(yield* contacts.list({ rule })), [email("b")])
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule: where("status = Stale") }))
      })
    )

    it.needing("own-account").effect("deletes more contacts than one transaction does, and keeps the others", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule, where } = place()
        const named = (count: number, name: string) =>
          Array.from({ length: count }, (_, n) => ({ email: email(`${name}${n}`), firstName: name }))
        yield* contacts.add(named(1000, "stale"))
        yield* contacts.add([...named(1, "kept"), ...named(400, "old")])
        yield* contacts.add(named(600, "stale2"))
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule: where("firstname starts-with 'stale'") }))
        assert.strictEqual((yield* contacts.list({ rule, limit: 1000 })).length, 401)
        yield* contacts.add(named(1000, "stale"))
        const [first, ...rest] = [...named(1000, "stale"), ...named(400, "old")]
        if (first === undefined) return assert.fail("there is no address")
        yield* contacts.deleteMany(ContactFilter.ByEmails({ emails: [first.email, ...rest.map(({ email }) => email)] }))
        assert.deepStrictEqual(emails(yield* contacts.list({ rule })), [email("kept0")])
      })
    )

    it.effect("deletes a list of addresses, in any spelling, and does not mind those that are not there", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([{ email: email("a") }, { email: email("b") }, { email: email("o'c+/x") }])
        yield* contacts.deleteMany(
          ContactFilter.ByEmails({
            emails: [email("A").toUpperCase(), email("nobody"), ` ${email("o'c+/x")} `, email("a")]
          })
        )
        assert.deepStrictEqual(emails(yield* contacts.list({ rule })), [email("b")])
        yield* contacts.deleteMany(ContactFilter.ByEmails({ emails: [email("nobody")] }))
      })
    )

    it.effect("refuses a list with an address that cannot be, and deletes none of it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([{ email: email("a") }])
        for (const [, impossible] of impossibleEmails) {
          yield* refused(
            contacts.deleteMany(ContactFilter.ByEmails({ emails: [email("a"), impossible] })),
            "InvalidInput"
          )
        }
        assert.deepStrictEqual(emails(yield* contacts.list({ rule })), [email("a")])
      })
    )

    it.effect("finds by a value of any signs, which the template of a rule writes", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email } = place()
        const values = ["Val d'Isère", "'", "''", '"', "' OR city != '", ") OR (email != ''", "--", "%_\\", "a\nb"]
        yield* contacts.add(values.map((city, at) => ({ email: email(`v${at}`), customFields: { city } })))
        for (const [at, city] of values.entries()) {
          const found = yield* contacts.list({ rule: yield* rule`city = ${city} AND email ends-with ${`@${domain}`}` })
          assert.deepStrictEqual(emails(found), [email(`v${at}`)], city)
        }
      })
    )

    it.effect("S44 has no way to say a rule and addresses at once", () =>
      refused(contactFilterFromInput({ rule: "All", emails: ["a@example.com"] }), "ConflictingFilter")
    )

    it.needing("own-account").effect("S43 refuses to be told everything in other words than All", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const rule = RuleText.make("status = Active OR status != Active")
        yield* refused(contacts.deleteMany(ContactFilter.ByRule({ rule })), "InvalidInput")
      })
    )
  })
}
