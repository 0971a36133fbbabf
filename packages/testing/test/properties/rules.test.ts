/**
 * A rule means the same wherever it is read: printed and parsed, evaluated over a contact, asked of a store, and given to
 * delete by.
 */
import { afterAll, assert, describe, it, layer } from "@effect/vitest"
import {
  ContactFilter,
  ContactsService,
  matchesRule,
  parseRule,
  Rule,
  RuleText,
  selectsEveryContact
} from "@roster/domain"
import { Arbitrary, DateTime, Effect, Result } from "effect"
import { amount, runSeed } from "../../src/durability/LongRun.ts"
import { layerMemory, refused } from "../../src/index.ts"
import { meetingContacts, meetingRule } from "../../src/properties/MeetingRules.ts"

const seed = runSeed("generated rules")
const property = (runs: { readonly ci: number; readonly long: number }) => ({
  arbitrary: { runs: amount(runs), seed, size: 50 },
  timeout: amount({ ci: 120_000, long: 3_600_000 })
})

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })
const emailsOf = (contacts: ReadonlyArray<{ readonly email: string }>) => contacts.map(({ email }) => email)

let asked = 0
let selected = 0
afterAll(() => process.stdout.write(`rules asked of a store: ${asked}, which selected ${selected} contacts\n`))

describe("a generated rule", () => {
  it.prop(
    "is the same rule, printed and parsed",
    [meetingRule],
    ([rule]) => {
      assert.deepStrictEqual(Result.getOrThrow(parseRule(Rule.print(rule))), rule)
    },
    property({ ci: 3000, long: 100_000 })
  )
})

layer(layerMemory, { excludeTestServices: true, timeout: "60 seconds" })("a generated rule, asked of a store", (it) => {
  it.effect.prop(
    "selects whom the evaluator selects, and deletes them and nobody else",
    {
      payloads: meetingContacts({ minLength: 1, maxLength: 20 }),
      rules: Arbitrary.array(meetingRule, { minLength: 8, maxLength: 16 })
    },
    ({ payloads, rules }) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* contacts.deleteMany(everyone)
        yield* contacts.add(payloads)
        for (const tree of rules) {
          const rule = RuleText.make(Rule.print(tree))
          const before = yield* contacts.list({ limit: 1000 })
          const now = yield* DateTime.now
          const meant = emailsOf(before.filter((contact) => matchesRule(tree, contact, now)))
          assert.deepStrictEqual(emailsOf(yield* contacts.list({ rule, limit: 1000 })), meant, rule)
          asked++
          selected += meant.length
          const deletion = contacts.deleteMany(ContactFilter.ByRule({ rule }))
          if (selectsEveryContact(tree)) {
            yield* refused(deletion, "InvalidInput")
            assert.deepStrictEqual(meant, emailsOf(before), rule)
            assert.deepStrictEqual(yield* contacts.list({ limit: 1000 }), before, rule)
          } else {
            yield* deletion
            const left = before.filter(({ email }) => !meant.includes(email))
            assert.deepStrictEqual(yield* contacts.list({ limit: 1000 }), left, rule)
            if (left.length === 0) yield* contacts.add(payloads)
          }
        }
      }),
    property({ ci: 480, long: 20_000 })
  )
})
