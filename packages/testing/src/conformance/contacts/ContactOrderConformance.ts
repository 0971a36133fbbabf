/** Lists by address and by adding, forwards and backwards, page behind page, on every layer that has these orders. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import {
  canonicalEmail,
  contactOrders,
  type ContactOrder,
  type ContactsPage,
  ContactsService,
  EmailAddress,
  maximumSortedOffset,
  RuleText
} from "@roster/domain"
import { Effect } from "effect"
import { impossibleEmails, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"
import { noTexts, unchecked } from "../cases/Unchecked.ts"

const emails = (contacts: ReadonlyArray<{ readonly email: string }>) => contacts.map((contact) => contact.email)

const bytesOf = (email: string) => Buffer.from(canonicalEmail(email), "utf8")

/** Addresses in an order, given those of a place as they were added. */
const inOrder = (added: ReadonlyArray<string>, order: ContactOrder): ReadonlyArray<string> => {
  const sorted = order.endsWith("email") ? added.toSorted((a, b) => Buffer.compare(bytesOf(a), bytesOf(b))) : added
  return order.startsWith("-") ? sorted.toReversed() : sorted
}

// Letters of both cases and of other scripts, digits, symbols on both sides of the letters, beginnings of others, and characters whose
// order in UTF-16 is another one than in UTF-8.
const locals = ["m", "Z", "a", "ab", "a1", "ä", "zoë", "_x", "{y", "B.c", "9", "10", "ﬁ", "😀", "𝒜", "ж", "a+b", "aa"]

/** Adds contacts to a place in an order of their own. */
const arranged = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const { email, rule, where } = place()
  const added = locals.map(email)
  yield* contacts.add(added.slice(0, 10).map((email) => ({ email, status: "Stale" })))
  yield* contacts.add(added.slice(10).map((email) => ({ email })))
  return { added, contacts, email, rule, where }
})

export const contactOrderConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: list in another order", () => {
    it.effect.each(contactOrders)("gives all in the order %s, at once and by offset", (sort) =>
      Effect.gen(function* () {
        const { added, contacts, rule } = yield* arranged
        const expected = inOrder(added, sort)
        assert.deepStrictEqual(emails(yield* contacts.list({ rule, sort })), expected)
        assert.deepStrictEqual(emails(yield* contacts.list({ rule, sort, limit: 5, offset: 7 })), expected.slice(7, 12))
        assert.deepStrictEqual(yield* contacts.list({ rule, sort, offset: maximumSortedOffset }), [])
        assert.deepStrictEqual(yield* contacts.list({ rule, sort, limit: 0 }), [])
      })
    )

    it.effect.each(contactOrders)(
      "gives pages behind the last contact in the order %s, whatever comes and goes",
      (sort) =>
        Effect.gen(function* () {
          const { added, contacts, email, rule } = yield* arranged
          const seen: Array<string> = []
          let after: string | undefined
          for (;;) {
            const page: ContactsPage = { rule, sort, limit: 4, after }
            const found = emails(yield* contacts.list(page))
            if (found.length === 0) break
            seen.push(...found)
            // What was given leaves the list before the place, and the last one is spelled as a person might.
            const gone = seen.at(-2)
            if (gone !== undefined && seen.length === 4) yield* contacts.delete(gone)
            if (seen.length === 8) yield* contacts.update(email("m"), { lastName: "changed" })
            after = found.at(-1)?.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
          }
          assert.deepStrictEqual(seen, inOrder(added, sort))
        })
    )

    it.effect.each(contactOrders)("goes back from the first contact of a page in the order %s", (sort) =>
      Effect.gen(function* () {
        const { added, contacts, rule } = yield* arranged
        const expected = inOrder(added, sort)
        const back = contactOrders.find((one) => one !== sort && one.replace("-", "") === sort.replace("-", ""))
        const before = yield* contacts.list({ rule, sort: back, after: expected[9], limit: 4 })
        assert.deepStrictEqual(emails(before).toReversed(), expected.slice(5, 9))
        assert.deepStrictEqual(
          emails(yield* contacts.list({ rule, sort, after: expected[3], offset: 2, limit: 3 })),
          expected.slice(6, 9)
        )
      })
    )

    it.effect.each(contactOrders)("selects by rule in the order %s, by one that no address holds too", (sort) =>
      Effect.gen(function* () {
        const { added, contacts, email, where } = yield* arranged
        const expected = inOrder(added.slice(0, 10), sort)
        const few = { rule: where("status = Stale"), sort }
        assert.deepStrictEqual(emails(yield* contacts.list(few)), expected)
        assert.deepStrictEqual(emails(yield* contacts.list({ ...few, after: expected[4] })), expected.slice(5))
        const named = [...added.slice(0, 10), ...Array.from({ length: 250 }, (_, at) => email(`nobody${at}`))]
        const rule = RuleText.make(named.map((email) => `email = '${email}'`).join(" OR "))
        assert.deepStrictEqual(emails(yield* contacts.list({ rule, sort, after: expected[2] })), expected.slice(3))
      })
    )

    it.effect("goes by the address through contacts of the whole account, with their lists", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain } = place()
        const begin = crypto.randomUUID()
        const added = ["c", "a", "e", "b", "d"].map((end) => EmailAddress.make(`${begin}${end}@${domain}`))
        yield* contacts.add(
          added.map((email) => ({ email })),
          { listNames: [domain] }
        )
        const behind = EmailAddress.make(`${begin}!@${domain}`)
        for (const page of [
          { sort: "email", after: behind, limit: 5 },
          { sort: "email", after: behind, limit: 5, rule: RuleText.make("All") }
        ] as const) {
          const found = yield* contacts.list({ ...page, lists: true })
          assert.deepStrictEqual(emails(found), inOrder(added, "email"))
          for (const { lists = [domain] } of found) assert.deepStrictEqual(lists, [domain])
        }
        const before = EmailAddress.make(`${begin}~@${domain}`)
        const backwards = yield* contacts.list({ sort: "-email", after: before, limit: 5 })
        assert.deepStrictEqual(emails(backwards), inOrder(added, "-email"))
        const newest = yield* contacts.list({ sort: "-added", limit: 1000 })
        const own = emails(newest).filter((email) => email.startsWith(begin))
        assert.deepStrictEqual(own, inOrder(added, "-added"))
        const [last] = own
        const older = yield* contacts.list({ sort: "-added", after: last, limit: 1000 })
        assert.deepStrictEqual(
          emails(older).filter((email) => email.startsWith(begin)),
          own.slice(1)
        )
      })
    )

    it.effect("gives contacts that are many bytes together", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const note = "é".repeat(10_000)
        const many = Array.from({ length: 150 }, (_, index) => email(`n${(index * 7) % 150}`))
        yield* contacts.add(many.map((email) => ({ email, customFields: { note } })))
        for (const sort of ["-email", "-added"] as const) {
          assert.deepStrictEqual(emails(yield* contacts.list({ rule, sort, limit: 150 })), inOrder(many, sort))
        }
      })
    )

    it.effect("begins by the address behind somebody who is not there, and in the order of adding says so", () =>
      Effect.gen(function* () {
        const { added, contacts, email, rule } = yield* arranged
        const nobody = email("n")
        assert.deepStrictEqual(
          emails(yield* contacts.list({ rule, sort: "email", after: nobody })),
          inOrder([...added, nobody], "email").slice(inOrder([...added, nobody], "email").indexOf(nobody) + 1)
        )
        for (const sort of [undefined, "added", "-added"] as const) {
          const { field } = yield* refused(contacts.list({ rule, sort, after: nobody }), "InvalidInput")
          assert.strictEqual(field, "after")
        }
      })
    )

    it.effect("refuses an order that there is none of, what is no address, and an offset beyond the bound", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { rule } = place()
        const fieldOf = (page: object) =>
          Effect.map(refused(contacts.list(unchecked({ rule, ...page })), "InvalidInput"), ({ field }) => field)
        for (const sort of ["", "name", "Email", "+email", "--email", ...noTexts]) {
          assert.strictEqual(yield* fieldOf({ sort }), "sort")
        }
        for (const after of [...impossibleEmails.map(([, bad]) => bad), ...noTexts]) {
          assert.strictEqual(yield* fieldOf({ sort: "email", after }), "after")
        }
        const offset = maximumSortedOffset + 1
        assert.strictEqual(yield* fieldOf({ sort: "email", offset }), "offset")
        assert.strictEqual(yield* fieldOf({ after: "a@example.com", offset }), "offset")
        assert.deepStrictEqual(yield* contacts.list({ rule, sort: "added", offset }), [])
      })
    )
  })
}
