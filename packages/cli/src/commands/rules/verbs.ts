/** `roster rules save`, `list` and `remove`: rules with names, for `--rule @NAME`. */
import { RuleText } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { refusedInput, usageError } from "../../errors/UsageError.ts"
import { changeConfig, maximumRules, readConfig } from "../../settings/ConfigFile.ts"
import { RuleName } from "../../settings/SavedRule.ts"
import * as Results from "../../terminal/Results.ts"
import { argument, withExamples } from "../shared/CommonFlags.ts"

const name = argument("name", RuleName, "Name of the rule")

export const save = Command.make(
  "save",
  {
    name,
    rule: Argument.String("rule").pipe(
      Argument.withDescription('The rule, such as "status = Active"'),
      Argument.mapEffect((given) => refusedInput(RuleText.fromText(given)))
    )
  },
  Effect.fnUntraced(function* ({ name, rule }) {
    let isNew = true
    yield* changeConfig((before) => {
      const { rules = {} } = before
      isNew = !Object.hasOwn(rules, name)
      return !isNew || Object.keys(rules).length < maximumRules
        ? Effect.succeed({ ...before, rules: { ...rules, [name]: rule } })
        : usageError(`${maximumRules} rules are saved already.`, "Remove one with: roster rules remove NAME")
    })
    yield* Results.done(`--rule @${name} ${isNew ? "stands" : "now stands"} for this rule`)
  })
).pipe(
  withExamples({
    "roster rules save vip \"plan = 'pro' AND status = Active\"": "Then: roster contacts list --rule @vip"
  })
)

export const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const { rules = {} } = yield* readConfig
    const rows = Object.entries(rules).map(([Name, Rule]) => ({ Name, Rule }))
    yield* Results.rows(["Name", "Rule"], Stream.fromIterable(rows))
  })
).pipe(Command.withExamples([{ command: "roster rules list" }]))

export const remove = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    yield* changeConfig(({ rules = {}, ...rest }) => {
      const { [name]: removed, ...others } = rules
      return removed === undefined
        ? usageError(`There is no saved rule "${name}".`, "See: roster rules list")
        : Effect.succeed({ ...rest, rules: others })
    })
    yield* Results.done(`There is no rule @${name} any more`)
  })
).pipe(Command.withExamples([{ command: "roster rules remove vip" }]))
