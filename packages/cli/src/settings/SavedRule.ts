/** Rules with a name, which `--rule @NAME` stands for. */
import { RuleText } from "@roster/domain"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect, Schema } from "effect"
import { refusedInput, usageError } from "../errors/UsageError.ts"
import { shorten } from "../terminal/Printable.ts"
import { readConfig } from "./ConfigFile.ts"
import { givenName } from "./Profile.ts"

export const RuleName = givenName("rule", "vip").pipe(Schema.brand("RuleName"))
export type RuleName = typeof RuleName.Type

const saved = Effect.fnUntraced(function* (name: string) {
  const { rules = {} } = yield* readConfig
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
  if (rule !== undefined) return rule
  const meant = didYouMean(name, Object.keys(rules))
  return yield* usageError(
    `There is no saved rule "${shorten(name)}"${meant === undefined ? "." : `; ${meant}`}`,
    "See: roster rules list"
  )
})

/** The text of a rule as it is given: its own, or `@` and the name of a saved one. No rule begins with that sign. */
export const ruleGiven = (given: string) =>
  refusedInput(given.startsWith("@") ? saved(given.slice(1)) : Effect.succeed(given))

/** The same as a rule that is checked. */
export const checkedRule = (given: string) =>
  Effect.flatMap(ruleGiven(given), (text) => refusedInput(RuleText.fromText(text)))
