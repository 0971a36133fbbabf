/** `roster contacts list` */
import { Contact, ContactsService, maximumContactsPerPage } from "@roster/domain"
import { writeContact } from "@roster/domain/ContactJson"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { count, refuseFlags, toggle, withExamples } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"
import { noteFields, ruleFlags, twoRules } from "../shared/RuleFlags.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

const columns = ["Email", "Status", "FirstName", "LastName", "DateAdded"]

export const command = Command.make(
  "list",
  {
    limit: count("limit", "Maximum number of contacts to show (default: 20)", 1),
    offset: count("offset", "Number of contacts to skip (default: 0)", 0),
    ...ruleFlags,
    all: toggle("all", "List all contacts")
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
    yield* Results.records(Contact, columns, found, writeContact)
  })
).pipe(
  Command.validate((given) =>
    refuseFlags(twoRules(given), [given.all && given.limit !== undefined, "--all and --limit cannot be used together."])
  ),
  withExamples({
    "roster contacts list --limit 50": "List the first 50 contacts",
    "roster contacts list --rule \"status = Active AND city = 'Berlin'\"": "List the contacts that a rule selects",
    "roster contacts list --all -o json | jq -r '.[].Email'": "Print the addresses of all contacts"
  }),
  Command.provide(TargetLayer.layer)
)
