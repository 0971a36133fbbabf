/** `roster rules save`, `list` and `remove`: rules with names, for `--rule @NAME`. */
import { RuleName, RuleText } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { refusedInput } from "../../errors/UsageError.ts"
import { removeRule, savedRules, saveRule } from "../../settings/SavedRule.ts"
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
    const isNew = yield* saveRule(name, rule)
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
    const rows = Object.entries(yield* savedRules).map(([Name, Rule]) => ({ Name, Rule }))
    yield* Results.rows(["Name", "Rule"], Stream.fromIterable(rows), { hasSentences: true })
  })
).pipe(Command.withExamples([{ command: "roster rules list" }]))

export const remove = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    yield* removeRule(name)
    yield* Results.done(`There is no rule @${name} any more`)
  })
).pipe(Command.withExamples([{ command: "roster rules remove vip" }]))
