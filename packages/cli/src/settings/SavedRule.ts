/** Rules with a name, which `--rule @NAME` stands for. */
import { RuleText } from "@roster/domain"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect, Schema } from "effect"
import { refusedInput, usageError } from "../errors/UsageError.ts"
import { shorten } from "../terminal/Printable.ts"
import { readConfig } from "./ConfigFile.ts"

export const RuleName = Schema.String.pipe(
  Schema.check(
    Schema.makeFilter(
      (name) =>
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) ||
        "the name of a rule has 1 to 64 letters, digits, dots, hyphens and underscores, such as vip"
    )
  ),
  Schema.brand("RuleName")
)
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
