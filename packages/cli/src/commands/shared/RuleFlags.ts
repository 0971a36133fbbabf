/** Rules as flags: `--rule`, which is parsed before it is sent, and `--raw-rule`, which only the service reads. */
import {
  type ContactRule,
  ContactsService,
  customFieldsOf,
  fieldHints,
  parseRule,
  RawRule,
  rawRule,
  Rule,
  RuleFields,
  RuleText
} from "@roster/domain"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect, Option, Result } from "effect"
import { parsed, text } from "../../settings/FlagForms.ts"
import { Output } from "../../terminal/Output.ts"
import { shorten } from "../../terminal/Printable.ts"
import { refusedInput, usageError } from "../../errors/UsageError.ts"

const description = 'Select contacts by a rule, such as "status = Active"'

const raw = parsed(
  "raw-rule",
  (given) => refusedInput(Effect.fromResult(rawRule(given))),
  "A rule in the syntax of the service, sent unchecked, instead of --rule",
  "TEXT"
)

/** The two flags, each checked as far as possible. */
export const ruleFlags = {
  rule: parsed("rule", (given) => refusedInput(RuleText.fromText(given)), description, "RULE"),
  rawRule: raw
}

/** The two flags where addresses are an alternative: the rule stays text, and the command checks both together. */
export const filterFlags = { rule: text("rule", description, "RULE"), rawRule: raw }

/** The refusal of both flags at once, for `refuseFlags`. */
export const twoRules = (given: { readonly rule: string | undefined; readonly rawRule: RawRule | undefined }) =>
  [given.rule !== undefined && given.rawRule !== undefined, "--rule and --raw-rule cannot be used together."] as const

/** Names the custom fields of a rule that look like built-in fields. A raw rule is not parsed. */
export const noteFields = Effect.fnUntraced(function* (rule: ContactRule | undefined) {
  if (rule === undefined || rule instanceof RawRule) return
  const output = yield* Output
  const hints = Result.match(parseRule(rule), { onSuccess: fieldHints, onFailure: () => [] })
  yield* Effect.forEach(hints, (hint) => output.note(hint), { discard: true })
})

/** The contacts whose custom fields are taken for those that there are, for suggestions. */
const sampled = 100

/** The custom fields of a rule that are looked for; more than that are not typed. */
const maximumLookups = 10

/** Says which custom fields of a rule no contact has. A key that may not read contacts is told nothing. */
const absentFields = Effect.fnUntraced(
  function* (rule: ContactRule | undefined) {
    if (rule === undefined || rule instanceof RawRule) return []
    const names = Result.match(parseRule(rule), { onSuccess: customFieldsOf, onFailure: () => [] })
    if (names.length === 0) return []
    const contacts = yield* ContactsService
    const some = yield* contacts.list({ limit: sampled })
    // A new store has no field yet.
    if (some.length === 0) return []
    const known = new Set(some.flatMap(({ customFields = {} }) => Object.keys(customFields)))
    const folded = new Set([...known].map(Rule.foldText))
    const absent: Array<{ readonly name: string; readonly words: string }> = []
    for (const name of names.filter((name) => !folded.has(Rule.foldText(name))).slice(0, maximumLookups)) {
      const hasField = Rule.print(Rule.compare(Rule.customField(name), "!=", Rule.text("")))
      const one = some.length < sampled ? [] : yield* contacts.list({ limit: 1, rule: hasField })
      if (one.length > 0) continue
      const meant = didYouMean(name, [...known, ...RuleFields.recordFieldNames])
      absent.push({ name, words: `no contact has "${shorten(name)}"${meant === undefined ? "" : `; ${meant}`}` })
    }
    return absent
  },
  Effect.option,
  Effect.map(Option.getOrElse(() => []))
)

/** Names the custom fields of a rule that no contact has, but for those that `noteFields` names. */
export const noteAbsentFields = Effect.fnUntraced(function* (rule: ContactRule | undefined) {
  const output = yield* Output
  const absent = (yield* absentFields(rule)).filter(({ name }) => RuleFields.meantField(name) === undefined)
  yield* Effect.forEach(absent, ({ words }) => output.note(words), { discard: true })
})

/** Refuses a rule with a custom field that no contact has: an absent field equals the empty text. */
export const refuseAbsentFields = Effect.fnUntraced(function* (rule: ContactRule) {
  const absent = yield* absentFields(rule)
  if (absent.length === 0) return
  return yield* usageError(
    `Nothing was done: ${absent.map(({ words }) => words).join("\n")}`,
    "Correct the rule. If it is meant so, use --raw-rule, which is not checked."
  )
})
