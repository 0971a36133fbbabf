/** On every layer, a filter that no compiler would accept selects nobody. */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import { ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { inspect } from "node:util"
import { place } from "./cases/Place.ts"
import { refused } from "./cases/Refused.ts"
import { noTexts, unchecked } from "./cases/Unchecked.ts"

const someone = ["a@example.com"]

/** Invalid filters, each with its field. */
const filterCases: ReadonlyArray<readonly [field: string, filter: unknown]> = [
  ...[null, 7, "ByEmails", [], {}, { emails: someone }, { rule: "All" }].map((value) => ["filter", value] as const),
  ...[null, 7, "ByNobody", "byRule"].map((tag) => ["filter", { _tag: tag, rule: "All" }] as const),
  ...[undefined, null, 7, {}, [], "a@example.com", new Set(someone)].map(
    (emails) => ["emails", { _tag: "ByEmails", emails }] as const
  ),
  ...[...noTexts, undefined, "a\ud800@example.com"].map(
    (value) => ["emails[1]", { _tag: "ByEmails", emails: [...someone, value] }] as const
  ),
  // A hole.
  ["emails[0]", { _tag: "ByEmails", emails: Object.assign([], { 1: "a@example.com" }) }],
  ...[undefined, null, 7, {}, [], { text: 7 }].map((rule) => ["rule", { _tag: "ByRule", rule }] as const),
  ["emial", { _tag: "ByRule", rule: "All", emial: someone }],
  ["limit", { _tag: "ByEmails", emails: someone, limit: 1 }]
]

/** Filters that give both: to act on the rule alone might delete everybody. */
const conflicting: ReadonlyArray<unknown> = [
  { _tag: "ByRule", rule: "All", emails: someone },
  { _tag: "ByRule", rule: "All", emails: [] },
  { _tag: "ByEmails", emails: someone, rule: "All" },
  { _tag: "ByEmails", emails: someone, rule: "" },
  { rule: "All", emails: someone }
]

export const badFilters = (it: Cases<ContactsService>): void => {
  it.needing("own-account").effect("in a filter: nobody is exported, and nobody is deleted", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const { email, rule } = place()
      yield* contacts.add([{ email: email("a") }, { email: email("b") }])
      for (const [field, filter] of filterCases) {
        const exported = yield* refused(contacts.export({ filter: unchecked(filter) }), "InvalidInput")
        const deleted = yield* refused(contacts.deleteMany(unchecked(filter)), "InvalidInput")
        assert.deepStrictEqual(
          [exported.field, deleted.field, exported.issue],
          [field, field, deleted.issue],
          inspect(filter)
        )
      }
      for (const filter of conflicting) {
        yield* refused(contacts.export({ filter: unchecked(filter) }), "ConflictingFilter")
        yield* refused(contacts.deleteMany(unchecked(filter)), "ConflictingFilter")
      }
      assert.strictEqual((yield* refused(contacts.deleteMany(unchecked(undefined)), "InvalidInput")).field, "filter")
      assert.strictEqual((yield* contacts.list({ rule })).length, 2)
    })
  )
}
