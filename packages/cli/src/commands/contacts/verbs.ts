/** `roster contacts count` and `fields`, which only read the contacts that a rule selects */
import { type ContactRule, ContactsService, FieldsInUse, FieldUse } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import { counted } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { checkFields, noteUnplaced, ruleFlags, sayUnplaced, twoRules } from "../shared/RuleFlags.ts"

const reading = <const Name extends string, E, R>(
  name: Name,
  examples: Parameters<typeof withExamples>[0],
  read: (rule: ContactRule | undefined) => Effect.Effect<void, E, R>
) =>
  Command.make(
    name,
    ruleFlags,
    Effect.fnUntraced(function* ({ rawRule, rule = rawRule, ...given }) {
      yield* checkFields(rule, given)
      yield* read(rule)
    })
  ).pipe(
    Command.validate((given) => refuseFlags(twoRules(given))),
    withExamples(examples),
    Command.provide(TargetLayer.layer)
  )

export const count = reading(
  "count",
  {
    "roster contacts count": "",
    'roster contacts count --rule "status = Active"': "Count the contacts that a rule selects",
    "roster contacts count -o json | jq .contacts": "Print the number alone"
  },
  Effect.fnUntraced(function* (rule) {
    const { count: contacts, unplaced } = yield* (yield* ContactsService).count({ rule })
    yield* Results.summary(Results.omitUndefined({ contacts, unplaced }), counted(contacts))
    yield* sayUnplaced(unplaced)
  })
)

const columns = ["Name", "Contacts", "Numbers", "Dates", "Examples"]

export const fields = reading(
  "fields",
  {
    "roster contacts fields": "",
    "roster contacts fields -o json | jq -r '.Fields[] | select(.IsCustom).Name'": "Print the names of custom fields",
    'roster contacts fields --rule "status = Active"': "Count the fields of the contacts that a rule selects"
  },
  Effect.fnUntraced(function* (rule) {
    yield* noteUnplaced(rule)
    const used = yield* (yield* ContactsService).fields({ rule })
    const { format, note } = yield* Output
    if (format === "json" || format === "ndjson") return yield* Results.record(FieldsInUse, used)
    yield* Results.records(FieldUse, columns, Stream.fromIterable(used.fields))
    yield* note(`Of ${counted(used.contacts)}${used.exact ? "." : ", and there are more: each count is one at least."}`)
  })
)
