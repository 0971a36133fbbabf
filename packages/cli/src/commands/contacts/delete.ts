/**
 * `roster contacts delete`
 */
import { type ContactFilter, contactFilterFromInput, ContactsService } from "@roster/domain"
import { Effect, Option } from "effect"
import { Argument, CliError, Command } from "effect/cli"
import { confirm, yes } from "../../Confirm.ts"
import { parseEmail, ruleText } from "../../Inputs.ts"
import * as Results from "../../Results.ts"
import * as Target from "../../Target.ts"
import { refusedHere } from "../../UsageError.ts"

const described = (filter: ContactFilter): string =>
  filter._tag === "ByRule"
    ? `every contact that the rule ${filter.rule} selects`
    : filter.emails.length === 1
      ? `the contact ${filter.emails[0]}`
      : `${filter.emails.length} contacts, ${filter.emails[0]} the first`

const deleteContacts = Effect.fnUntraced(function* (filter: ContactFilter) {
  const contacts = yield* ContactsService
  // One address has an operation of its own, which says when nobody has it.
  yield* filter._tag === "ByEmails" && filter.emails.length === 1
    ? contacts.delete(filter.emails[0])
    : contacts.deleteMany(filter)
})

export const deleteCommand = Command.make(
  "delete",
  {
    emails: Argument.String("email").pipe(
      Argument.withDescription("The addresses of the contacts"),
      Argument.mapEffect(parseEmail("email")),
      Argument.variadic()
    ),
    rule: ruleText,
    yes
  },
  Effect.fnUntraced(function* ({ emails, rule, yes }) {
    const input = { rule, emails: emails.length === 0 ? undefined : emails }
    const filter = yield* refusedHere(contactFilterFromInput(input))
    if (Option.isNone(filter)) return
    const what = described(filter.value)
    yield* confirm(`delete ${what} everywhere`, { yes })
    yield* deleteContacts(filter.value)
    yield* Results.done(`Deleted ${what}`)
  })
).pipe(
  Command.validate(({ emails, rule }) =>
    emails.length === 0 && rule === undefined
      ? Effect.fail(new CliError.ValidationError({ message: "Say which contacts: their addresses, or --rule." }))
      : Effect.void
  ),
  Command.withDescription("Delete contacts everywhere, from all lists"),
  Command.withExamples([
    { command: "roster contacts delete ann@example.com" },
    {
      command: "roster contacts delete ann@example.com bob@example.com --yes",
      description: "Several, without being asked"
    },
    { command: 'roster contacts delete --rule "status = Bounced" --yes', description: "All that a rule selects" }
  ]),
  Command.provide(Target.layer)
)
