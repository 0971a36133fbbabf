/** Rules as flags: `--rule`, which is parsed before it is sent, and `--raw-rule`, which only the service reads. */
import { ContactsService, parseRule, RawRule, type Unplaced } from "@roster/domain"
import {
  type ContactRule,
  fieldHints,
  mayLeaveUnplaced,
  rawRule,
  ruleSource,
  unplacedText
} from "@roster/domain/internal"
import { unknownFields } from "@roster/workflows"
import { Effect, Option, Result } from "effect"
import { parsed, toggle } from "../../settings/FlagForms.ts"
import { Output } from "../../terminal/Output.ts"
import { printable, shorten } from "../../terminal/Printable.ts"
import { refusedInput, usageError } from "../../errors/UsageError.ts"
import { parseGiven, ruleGiven } from "./SavedRules.ts"

const description = 'Select contacts by a rule, such as "status = Active", or by a saved one, such as @vip'

const raw = parsed(
  "raw-rule",
  (given) => refusedInput(Effect.fromResult(rawRule(given))),
  "A rule in the syntax of the service, sent unchecked, instead of --rule",
  "TEXT"
)

const allowUnknownField = toggle(
  "allow-unknown-field",
  "Take a custom field that no contact has (default: refuse it, since an absent field equals the empty text)"
)

/** The flags of a rule, each checked as far as possible. */
export const ruleFlags = {
  allowUnknownField,
  rule: parsed("rule", parseGiven, description, "RULE"),
  rawRule: raw
}

/** What the flags of a rule say. */
export interface GivenRule {
  readonly rule: string | undefined
  readonly rawRule: RawRule | undefined
}

/** The rule of the flags, if there is one. */
export const givenRule = ({ rawRule, rule }: GivenRule) =>
  Effect.map(
    rule === undefined ? Effect.undefined : ruleGiven(rule),
    (rule): ContactRule | undefined => rule ?? rawRule
  )

/** The refusal of both flags at once, for `refuseFlags`. */
export const twoRules = (given: GivenRule) =>
  [given.rule !== undefined && given.rawRule !== undefined, "--rule and --raw-rule cannot be used together."] as const

/** Names the custom fields of a rule that look like built-in fields. A raw rule is not parsed. */
const noteFields = Effect.fnUntraced(function* (rule: ContactRule | undefined) {
  if (rule === undefined || rule instanceof RawRule) return
  const output = yield* Output
  const hints = Result.match(parseRule(rule), { onSuccess: fieldHints, onFailure: () => [] })
  yield* Effect.forEach(hints, (hint) => output.note(hint), { discard: true })
})

/** Refuses custom fields of a rule or of columns that no contact has, and names those that look like built-in ones. */
export const checkFields = Effect.fnUntraced(function* (
  rule: ContactRule | undefined,
  given: { readonly allowUnknownField: boolean; readonly columns?: ReadonlyArray<string> | undefined }
) {
  yield* noteFields(rule)
  if (given.allowUnknownField) return
  const absent = yield* unknownFields(rule, given.columns)
  if (absent.length === 0) return
  const words = absent.map(
    ({ meant, name }) => `no contact has "${shorten(name)}"${meant === undefined ? "" : `; ${meant}`}`
  )
  return yield* usageError(
    `Nothing was done: ${words.join("\n")}`,
    "Correct the name. If it is meant so, add --allow-unknown-field."
  )
})

/** Says which contacts a rule leaves out since it cannot compare a value of theirs. */
export const sayUnplaced = Effect.fnUntraced(function* (unplaced: Unplaced | undefined) {
  if (unplaced !== undefined) yield* (yield* Output).note(printable(unplacedText(unplaced)))
})

/** Counts what a rule selects, if it may leave contacts out and the service is one of ours, which alone says so. */
export const countUnplaced = Effect.fnUntraced(function* (rule: ContactRule | undefined) {
  const parsed = rule === undefined ? undefined : Result.getOrUndefined(parseRule(ruleSource(rule)))
  if (parsed === undefined || !mayLeaveUnplaced(parsed)) return
  const contacts = yield* ContactsService
  return (yield* contacts.storeId) === undefined ? undefined : yield* contacts.count({ rule })
})

/** Says which contacts a rule leaves out, if that can be counted. */
export const noteUnplaced = (rule: ContactRule | undefined) =>
  countUnplaced(rule).pipe(
    Effect.option,
    Effect.flatMap((counted) => sayUnplaced(Option.getOrUndefined(counted)?.unplaced))
  )
