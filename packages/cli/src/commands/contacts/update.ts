/** `roster contacts update` */
import { Contact, ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { dryRun } from "../../terminal/DryRun.ts"
import { confirmCount, yes } from "../shared/Confirm.ts"
import { contactNames, customFields, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { isByRule, selected, selectionFlags, selectionRefusals, selectionWords } from "../shared/Selection.ts"
import * as Results from "../../terminal/Results.ts"
import { recorded } from "./runs/RecordedRun.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import { updateMany } from "./UpdateOfMany.ts"

export const command = Command.make(
  "update",
  { ...selectionFlags, ...contactNames, customFields, yes, confirm: confirmCount, dryRun },
  Effect.fnUntraced(function* ({ customFields, firstName, lastName, ...given }) {
    const changes = Results.omitUndefined({ customFields, firstName, lastName })
    const [email, ...others] = given.emails
    const about = RunLogLayer.about(selectionWords(given))
    if (email === undefined || others.length > 0 || given.file !== undefined || isByRule(given)) {
      return yield* updateMany(yield* selected(given), changes, given).pipe(about)
    }
    const update = Effect.flatMap(ContactsService, (contacts) => contacts.update(email, changes))
    const updated = yield* given.dryRun ? update : about(recorded({ command: "update", expected: 1 }, update))
    yield* Results.record(Contact, updated)
  })
).pipe(
  Command.validate(({ customFields, firstName, lastName, ...selection }) =>
    refuseFlags(
      [
        firstName === undefined && lastName === undefined && customFields === undefined,
        "There is nothing to change: add --first-name, --last-name or --field."
      ],
      ...selectionRefusals(selection)
    )
  ),
  withExamples({
    "roster contacts update ann@example.com --last-name Lee-Smith": "",
    "roster contacts update ann@example.com --field city=Paris --field plan=":
      "Set one custom field, and clear another",
    "roster contacts update --rule \"city = 'Koeln'\" --field city=Köln --dry-run":
      "Show how many contacts would change, and a few of them",
    "roster contacts update --rule \"city = 'Koeln'\" --field city=Köln": "Change all contacts that a rule selects"
  }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
