/**
 * `roster contacts list`
 */
import { Contact, ContactsService, maximumContactsPerPage } from "@roster/domain"
import { Effect, Stream } from "effect"
import { CliError, Command } from "effect/cli"
import { count, toggle } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"
import { noteFields, oneRule, ruleFlags } from "../shared/RuleFlags.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

const columns = ["Email", "Status", "FirstName", "LastName", "DateAdded"]

export const command = Command.make(
  "list",
  {
    limit: count("limit", "Maximum number of contacts to show (default: 20)", 1, Number.MAX_SAFE_INTEGER),
    offset: count("offset", "How many to skip ahead", 0, Number.MAX_SAFE_INTEGER),
    ...ruleFlags,
    all: toggle("all", "All of them, however many there are")
  },
  Effect.fnUntraced(function* ({ all, limit, offset, rawRule, rule: checked }) {
    const rule = checked ?? rawRule
    yield* noteFields(rule)
    const contacts = yield* ContactsService
    const isMore = limit !== undefined && limit > maximumContactsPerPage
    const found = all
      ? contacts.stream({ offset, rule })
      : isMore
        ? Stream.take(contacts.stream({ offset, rule }), limit)
        : Stream.fromArrayEffect(contacts.list({ limit, offset, rule }))
    yield* Results.records(Contact, columns, found)
  })
).pipe(
  Command.validate((given) => oneRule(given)),
  Command.validate(({ all, limit }) =>
    all && limit !== undefined
      ? Effect.fail(new CliError.ValidationError({ message: "--all and --limit exclude each other." }))
      : Effect.void
  ),
  Command.withExamples([
    { command: "roster contacts list --limit 50", description: "The first 50" },
    {
      command: "roster contacts list --rule \"status = Active AND city = 'Berlin'\"",
      description: "Those that a rule selects"
    },
    { command: "roster contacts list --all -o json | jq -r '.[].Email'", description: "The addresses of all" }
  ]),
  Command.provide(TargetLayer.layer)
)
