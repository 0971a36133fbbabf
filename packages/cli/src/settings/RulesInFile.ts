/** The saved rules in the user's file of profiles, which stand at services that keep none. */
import { type RuleName, type RuleText, SavedRuleNotFound } from "@roster/domain"
import { withoutRule, withRule } from "@roster/domain/internal"
import { Effect } from "effect"
import { refusedHere } from "../errors/UsageError.ts"
import { changeConfig, readConfig } from "./ConfigFile.ts"

/** The saved rules by their names. */
export const rulesInFile = Effect.map(readConfig, ({ rules = {} }) => rules)

/** Saves a rule, which replaces one of the same name. */
export const saveInFile = (name: RuleName, rule: RuleText) =>
  changeConfig(({ rules: saved = {}, ...rest }) =>
    Effect.map(refusedHere(Effect.fromResult(withRule(saved, name, rule))), (rules) => ({ ...rest, rules }))
  )

/** Removes a saved rule. */
export const removeFromFile = (name: string) =>
  changeConfig(({ rules: saved = {}, ...rest }) =>
    Object.hasOwn(saved, name)
      ? Effect.succeed({ ...rest, rules: withoutRule(saved, name) })
      : Effect.fail(new SavedRuleNotFound({ name }))
  )
