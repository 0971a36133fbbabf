/** `roster contacts count` */
import { ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { counted } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { checkFields, givenRule, ruleFlags, sayUnplaced, twoRules } from "../shared/RuleFlags.ts"

export const command = Command.make(
  "count",
  ruleFlags,
  Effect.fnUntraced(function* (given) {
    const rule = yield* givenRule(given)
    yield* checkFields(rule, given)
    const { count: contacts, unplaced } = yield* (yield* ContactsService).count({ rule })
    yield* Results.summary(Results.omitUndefined({ contacts, unplaced }), counted(contacts))
    yield* sayUnplaced(unplaced)
  })
).pipe(
  Command.validate((given) => refuseFlags(twoRules(given))),
  withExamples({
    "roster contacts count": "",
    'roster contacts count --rule "status = Active"': "Count the contacts that a rule selects",
    "roster contacts count -o json | jq .contacts": "Print the number alone"
  }),
  Command.provide(TargetLayer.layerForReads)
)
