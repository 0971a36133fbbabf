/** Rules with a name, for which `@` and the name stand wherever a rule is given. No rule begins with that sign. */
import { Effect, Result, Schema } from "effect"
import { InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import { TaggedError } from "../errors/TaggedError.ts"
import { didYouMean, quoted } from "../values/DidYouMean.ts"
import { answerField, requestField } from "../values/OptionalField.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { givenName } from "./GivenName.ts"
import type { RuleSuggestion } from "../rules/RuleCompletion.ts"
import type { InvalidRule } from "../rules/RuleError.ts"
import { invalidRule } from "../rules/RuleLexer.ts"

/** The name of a saved rule. */
export const RuleName = givenName("rule", "vip").pipe(Schema.brand("RuleName"))
export type RuleName = typeof RuleName.Type

/** The texts of rules by their names. */
export const SavedRules = Schema.Record(Schema.String, Schema.String)
export type SavedRules = typeof SavedRules.Type

/** Maximum number of saved rules. */
export const maximumSavedRules = 200

/** A rule with its name. */
export const SavedRule = wireRecord({
  /** The name. */
  name: Schema.String,
  /** The text of the rule. */
  rule: Schema.String,
  /** How the page shows its contacts, as its address says that; absent if it was saved without. */
  view: answerField(Schema.String)
}).annotate({ identifier: "SavedRule" })
export interface SavedRule extends Schema.Schema.Type<typeof SavedRule> {}

/** The rule that is saved under a name. */
export const SavedRulePayload = payloadRecord("a saved rule", {
  /** The text of the rule, which the service checks. */
  rule: Schema.String,
  /** How the page shows its contacts, at most 16384 characters (default: nothing is kept of that). */
  view: requestField(Schema.String)
}).annotate({ identifier: "SavedRulePayload" })
export interface SavedRulePayload extends Schema.Schema.Type<typeof SavedRulePayload> {}

/** What is saved besides the text of a rule. */
export interface SaveRuleOptions {
  /**
   * How the page shows the contacts of the rule: columns and order, as its address says them. The service keeps the text, at most 16384
   * characters, and does not read it (default: none, also where the rule had one).
   */
  readonly view?: string | undefined
}

/** Maximum length of the view of a saved rule, in UTF-16 units. */
export const maximumRuleView = 16_384

/** Checks the view of a saved rule, with the same message on every layer. */
export const checkRuleView = (view: string | undefined): Effect.Effect<void, InvalidInput> =>
  view === undefined || (view.length <= maximumRuleView && view.isWellFormed() && !view.includes("\0"))
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          field: "view",
          issue: `it has at most ${maximumRuleView} characters, without null characters and unpaired surrogates`
        })
      )

const readName = Schema.decodeUnknownEffect(RuleName)

/** Checks the name of a saved rule, with the same message on every layer. */
export const checkRuleName = (name: string): Effect.Effect<RuleName, InvalidInput> =>
  Effect.mapError(readName(name), (error) => invalidInput(error, "name"))

/** No rule is saved under this name. */
export class SavedRuleNotFound extends TaggedError<SavedRuleNotFound>()("SavedRuleNotFound", {
  /** The name that was asked for. */
  name: Schema.String
}) {
  override get message(): string {
    return `There is no saved rule "${this.name}".`
  }
}

/** The refusal of one more rule than may be saved. */
export const tooManySavedRules = (): InvalidInput =>
  new InvalidInput({ field: "name", issue: `${maximumSavedRules} rules are saved already; remove one first` })

/** Maximum number of names that an error lists. */
const listedNames = 8

/** Whether a text stands for a saved rule. */
export const isSavedRule = (given: string): boolean => given.trimStart().startsWith("@")

/** The rule for which a text stands: the saved one that it names, or the text itself. */
export const ruleOf = (given: string, saved: SavedRules): Result.Result<string, InvalidRule> => {
  if (!isSavedRule(given)) return Result.succeed(given)
  const name = given.trim().slice(1)
  const rule = Object.hasOwn(saved, name) ? saved[name] : undefined
  if (rule !== undefined) return Result.succeed(rule)
  const names = Object.keys(saved)
  const hint = names.length === 0 ? "no rule is saved" : didYouMean(name, names)
  const place = { position: given.indexOf("@"), length: name.length + 1 }
  const expected = names.length > listedNames ? [] : names.map((name) => `@${name}`)
  return Result.fail(
    invalidRule(given, place, `there is no saved rule ${quoted(name)}`, {
      expected,
      ...(hint === undefined ? {} : { hint })
    })
  )
}

/** The texts of rules by their names. */
export const savedRulesOf = (rules: ReadonlyArray<SavedRule>): SavedRules =>
  Object.fromEntries(rules.map(({ name, rule }) => [name, rule]))

/** The rules with one more, or with another text for a name. Refuses more than may be saved. */
export const withRule = (saved: SavedRules, name: RuleName, rule: string): Result.Result<SavedRules, InvalidInput> =>
  Object.hasOwn(saved, name) || Object.keys(saved).length < maximumSavedRules
    ? Result.succeed({ ...saved, [name]: rule })
    : Result.fail(tooManySavedRules())

/** The rules without that of a name. */
export const withoutRule = (saved: SavedRules, name: string): SavedRules =>
  Object.fromEntries(Object.entries(saved).filter(([other]) => other !== name))

/** The saved rules that a text which begins with `@` may go on to. */
export const completeSavedRule = (given: string, saved: SavedRules): ReadonlyArray<RuleSuggestion> =>
  Object.keys(saved)
    .map((name) => ({ text: `@${name}` }))
    .filter(({ text }) => text.toLowerCase().startsWith(given.trim().toLowerCase()))
