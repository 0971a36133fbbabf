/** `roster rules save`, `list` and `remove`: rules with names, for `--rule @NAME`. */
import { RuleName, RuleText } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { refusedInput } from "../../errors/UsageError.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"
import { argument, withExamples } from "../shared/CommonFlags.ts"
import { bringing, removeRule, savedRules, saveRule } from "../shared/SavedRules.ts"

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
    yield* saveRule(name, rule)
    yield* Results.done(`--rule @${name} stands for this rule`)
  })
).pipe(
  withExamples({
    "roster rules save vip \"plan = 'pro' AND status = Active\"": "Then: roster contacts list --rule @vip"
  }),
  Command.provide(TargetLayer.layerForWrites({ makesStore: true }))
)

export const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const { rules, unused } = yield* savedRules
    const rows = Object.entries(rules).map(([Name, Rule]) => ({ Name, Rule }))
    yield* Results.rows(["Name", "Rule"], Stream.fromIterable(rows), { hasSentences: true })
    const { note } = yield* Output
    for (const [name, rule] of Object.entries(unused)) {
      yield* note(
        `Your file of profiles has @${name}, which stands for nothing here. To bring it here: ${yield* bringing(name, rule)}`
      )
    }
  })
).pipe(Command.withExamples([{ command: "roster rules list" }]), Command.provide(TargetLayer.layerForReads))

export const remove = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    yield* removeRule(name)
    yield* Results.done(`There is no rule @${name} any more`)
  })
).pipe(Command.withExamples([{ command: "roster rules remove vip" }]), Command.provide(TargetLayer.layer))
