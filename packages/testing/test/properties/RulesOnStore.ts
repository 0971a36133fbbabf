/** The property of rules that every store has to hold. */
import { afterAll, assert, layer } from "@effect/vitest"
import { Contact, ContactFilter, ContactsService, Rule, RuleText } from "@roster/domain"
import { selectsEveryContact } from "@roster/domain/internal"
import { Arbitrary, DateTime, Effect, type Layer, Schema } from "effect"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { refused } from "../../src/conformance/cases/Refused.ts"
import { identitiesOf } from "../../../server/src/contacts/ContactSelection.ts"
import { meetingContacts, meetingRule } from "./MeetingRules.ts"
import { truthOf } from "./RuleOracle.ts"

const seed = runSeed("generated rules")

/** How often a property runs. */
export const property = (runs: { readonly ci: number; readonly long: number }) => ({
  arbitrary: { runs: amount(runs), seed, size: 50 },
  timeout: amount({ ci: 120_000, long: 3_600_000 })
})

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })
const encode = Schema.encodeSync(Contact)
const emailsOf = (contacts: ReadonlyArray<{ readonly email: string }>) => contacts.map(({ email }) => email)

let asked = 0
let selected = 0
let open = 0
let byAddress = 0
afterAll(() =>
  process.stdout.write(
    `rules asked of a store: ${asked}, ${byAddress} by address; they selected ${selected} contacts and left out ${open}\n`
  )
)

/** Registers the property for the services on an empty store. */
export const rulesOnStore = (
  name: string,
  services: Layer.Layer<ContactsService, unknown>,
  runs: { readonly ci: number; readonly long: number }
): void =>
  layer(services, { excludeTestServices: true, timeout: "60 seconds" })(name, (it) => {
    it.effect.prop(
      "selects whom the documentation says, tells how many have a value without a place, and deletes nobody else",
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
            const now = DateTime.toEpochMillis(yield* DateTime.now)
            const truths = before.map((contact) => truthOf(tree, encode(contact), now))
            const meant = emailsOf(before.filter((_, at) => truths[at] === 1))
            assert.deepStrictEqual(emailsOf(yield* contacts.list({ rule, limit: 1000 })), meant, rule)
            const unplaced = truths.filter((truth) => truth === 0.5).length
            const counted = yield* contacts.count({ rule })
            assert.deepStrictEqual([counted.count, counted.unplaced?.contacts ?? 0], [meant.length, unplaced], rule)
            const first = before.find((_, at) => truths[at] === 0.5)
            if (counted.unplaced !== undefined && first !== undefined) {
              assert.include(JSON.stringify(encode(first)), JSON.stringify(counted.unplaced.example), rule)
            }
            open += unplaced
            asked++
            selected += meant.length
            if (identitiesOf(tree) !== undefined) byAddress++
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
      property(runs)
    )
  })
