/** `roster contacts update` */
import { Contact, ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { dryRun } from "../../terminal/DryRun.ts"
import { contactNames, customFields, email, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"
import { recorded } from "./runs/RecordedRun.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"

export const command = Command.make(
  "update",
  { email, ...contactNames, customFields, dryRun },
  Effect.fnUntraced(function* ({ dryRun, email, ...changes }) {
    const update = Effect.flatMap(ContactsService, (contacts) => contacts.update(email, Results.omitUndefined(changes)))
    const updated = yield* dryRun ? update : recorded({ command: "update", expected: 1 }, update)
    yield* Results.record(Contact, updated)
  })
).pipe(
  Command.validate(({ customFields, firstName, lastName }) =>
    refuseFlags([
      firstName === undefined && lastName === undefined && customFields === undefined,
      "There is nothing to change: add --first-name, --last-name or --field."
    ])
  ),
  withExamples({
    "roster contacts update ann@example.com --last-name Lee-Smith": "",
    "roster contacts update ann@example.com --field city=Paris --field plan=": "Set one custom field, and clear another"
  }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
