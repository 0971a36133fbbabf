/**
 * Rules as flags: `--rule`, which is read before it is sent, and `--raw-rule`, which the service alone reads.
 */
import { type ContactRule, fieldHints, parseRule, RawRule, rawRule, RuleText } from "@roster/domain"
import { Effect, Result } from "effect"
import { CliError, Flag } from "effect/cli"
import { text } from "./CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { refusedInput } from "../../errors/UsageError.ts"

const description = 'A rule that selects contacts, such as "status = Active"'

const raw = Flag.String("raw-rule").pipe(
  Flag.mapEffect((given) => refusedInput(Effect.fromResult(rawRule(given)))),
  Flag.withMetavar("TEXT"),
  Flag.withDescription("A rule in the words of the service, sent as it is and unchecked, in place of --rule"),
  Flag.withDefault(undefined)
)

/** The two flags, each checked as far as it is at once. */
export const ruleFlags = {
  rule: Flag.String("rule").pipe(
    Flag.mapEffect((given) =>
      Effect.fromResult(parseRule(given)).pipe(
        Effect.map(() => RuleText.make(given)),
        refusedInput
      )
    ),
    Flag.withMetavar("RULE"),
    Flag.withDescription(description),
    Flag.withDefault(undefined)
  ),
  rawRule: raw
}

/** The same where a rule may stand beside addresses: the text is left as it is, and the two are checked together. */
export const filterFlags = { rule: text("rule", description, "RULE"), rawRule: raw }

/** Refuses both flags at once. */
export const oneRule = (given: { readonly rule: string | undefined; readonly rawRule: RawRule | undefined }) =>
  given.rule !== undefined && given.rawRule !== undefined
    ? Effect.fail(new CliError.ValidationError({ message: "--rule and --raw-rule exclude each other." }))
    : Effect.void

/**
 * Says which names of a rule are taken for custom fields although they look like fields that every contact has. What the
 * service alone reads is not looked into.
 */
export const noteFields = Effect.fnUntraced(function* (rule: ContactRule | undefined) {
  if (rule === undefined || rule instanceof RawRule) return
  const output = yield* Output
  const hints = Result.match(parseRule(rule), { onSuccess: fieldHints, onFailure: () => [] })
  yield* Effect.forEach(hints, (hint) => output.note(hint), { discard: true })
})
