/** The saved rules of the user, which are in the file of profiles: `--rule @NAME` stands for one. */
import { isSavedRule, type RuleName, ruleOf, RuleText, withoutRule, withRule } from "@roster/domain"
import { Effect } from "effect"
import { refusedHere, refusedInput, usageError } from "../errors/UsageError.ts"
import { changeConfig, readConfig } from "./ConfigFile.ts"

/** The saved rules by their names. */
export const savedRules = Effect.map(readConfig, ({ rules = {} }) => rules)

/** Saves a rule, which replaces one of the same name. Gives whether there was none. */
export const saveRule = Effect.fnUntraced(function* (name: RuleName, rule: RuleText) {
  let isNew = true
  yield* changeConfig(({ rules: saved = {}, ...rest }) => {
    isNew = !Object.hasOwn(saved, name)
    const changed = refusedHere(Effect.fromResult(withRule(saved, name, rule)))
    return Effect.map(changed, (rules) => ({ ...rest, rules }))
  })
  return isNew
})

/** Removes a saved rule. */
export const removeRule = (name: string) =>
  changeConfig(({ rules: saved = {}, ...rest }) =>
    Object.hasOwn(saved, name)
      ? Effect.succeed({ ...rest, rules: withoutRule(saved, name) })
      : usageError(`There is no saved rule "${name}".`, "See: roster rules list")
  )

/** The text of a rule as it is given: its own, or that of the saved one that it names. */
export const ruleGiven = (given: string) =>
  refusedInput(
    isSavedRule(given)
      ? Effect.flatMap(savedRules, (saved) => Effect.fromResult(ruleOf(given, saved)))
      : Effect.succeed(given)
  )

/** The text of a rule as it is given, checked. */
export const checkedRule = (given: string) =>
  Effect.flatMap(ruleGiven(given), (text) => refusedInput(RuleText.fromText(text)))
