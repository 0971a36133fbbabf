/** `roster contacts fields` */
import { ContactsService, FieldsInUse, FieldUse } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import { counted } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { refuseAbsentFields, ruleFlags, twoRules } from "../shared/RuleFlags.ts"

const columns = ["Name", "Contacts", "Numbers", "Dates", "Examples"]

export const command = Command.make(
  "fields",
  ruleFlags,
  Effect.fnUntraced(function* ({ allowUnknownField, rawRule, rule }) {
    yield* refuseAbsentFields(rule, { allowUnknownField })
    const { fields } = yield* ContactsService
    const used = yield* fields({ rule: rule ?? rawRule })
    const { format, note } = yield* Output
    if (format === "json" || format === "ndjson") return yield* Results.record(FieldsInUse, used)
    yield* Results.records(FieldUse, columns, Stream.fromIterable(used.fields))
    yield* note(`Of ${counted(used.contacts)}${used.exact ? "." : ", and there are more: each count is one at least."}`)
  })
).pipe(
  Command.validate((given) => refuseFlags(twoRules(given))),
  withExamples({
    "roster contacts fields": "",
    "roster contacts fields -o json | jq -r '.Fields[] | select(.IsCustom).Name'": "Print the names of custom fields",
    'roster contacts fields --rule "status = Active"': "Count the fields of the contacts that a rule selects"
  }),
  Command.provide(TargetLayer.layer)
)
