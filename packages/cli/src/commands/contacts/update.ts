/**
 * `roster contacts update`
 */
import { Contact, ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { CliError, Command } from "effect/cli"
import { dryRun } from "../../terminal/DryRun.ts"
import { customFields, email, text } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

export const command = Command.make(
  "update",
  {
    email,
    firstName: text("first-name", "First name", "NAME"),
    lastName: text("last-name", "Last name", "NAME"),
    customFields,
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun: _dryRun, email, ...changes }) {
    const contacts = yield* ContactsService
    yield* Results.record(Contact, yield* contacts.update(email, Results.omitUndefined(changes)))
  })
).pipe(
  Command.validate(({ customFields, firstName, lastName }) =>
    firstName === undefined && lastName === undefined && customFields === undefined
      ? Effect.fail(
          new CliError.ValidationError({
            message: "There is nothing to change: name --first-name, --last-name or --field."
          })
        )
      : Effect.void
  ),
  Command.withExamples([
    { command: "roster contacts update ann@example.com --last-name Lee-Smith" },
    {
      command: "roster contacts update ann@example.com --field city=Paris --field plan=",
      description: "Set a custom field, empty another"
    }
  ]),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
