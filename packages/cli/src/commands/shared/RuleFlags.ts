/** Rules as flags: `--rule`, which is parsed before it is sent, and `--raw-rule`, which only the service reads. */
import { type ContactRule, fieldHints, parseRule, RawRule, rawRule, RuleText } from "@roster/domain"
import { Effect, Result } from "effect"
import { parsed, text } from "./CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { refusedInput } from "../../errors/UsageError.ts"

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
