/** Rules with a name, for which `@` and the name stand wherever a rule is given. No rule begins with that sign. */
import { Result, Schema } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { didYouMean, quoted } from "../values/DidYouMean.ts"
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

/** The rules with one more, or with another text for a name. Refuses more than may be saved. */
export const withRule = (saved: SavedRules, name: RuleName, rule: string): Result.Result<SavedRules, InvalidInput> =>
  Object.hasOwn(saved, name) || Object.keys(saved).length < maximumSavedRules
    ? Result.succeed({ ...saved, [name]: rule })
    : Result.fail(
        new InvalidInput({ field: "name", issue: `${maximumSavedRules} rules are saved already; remove one first` })
      )

/** The rules without that of a name. */
export const withoutRule = (saved: SavedRules, name: string): SavedRules =>
  Object.fromEntries(Object.entries(saved).filter(([other]) => other !== name))

/** The saved rules that a text which begins with `@` may go on to. */
export const completeSavedRule = (given: string, saved: SavedRules): ReadonlyArray<RuleSuggestion> =>
  Object.keys(saved)
    .map((name) => ({ text: `@${name}` }))
    .filter(({ text }) => text.toLowerCase().startsWith(given.trim().toLowerCase()))
