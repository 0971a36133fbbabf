/** `roster contacts update` */
import { Contact, ContactStatus } from "@roster/domain"
import { ruleSource } from "@roster/domain/internal"
import { changeAsRun, planUpdate, type PlanSummary } from "@roster/workflows"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { withHelp } from "../shared/HelpExtras.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { confirmCount, yes } from "../shared/Confirm.ts"
import {
  contactNames,
  customFields,
  refuseFlags,
  resubscribe,
  resubscribeNeedsStatus,
  withExamples
} from "../shared/CommonFlags.ts"
import { isOne, selected, selectionFlags, selectionRefusals, aboutSelection, fileGroup } from "../shared/Selection.ts"
import { checkNewFields, newField } from "../shared/NewFields.ts"
import * as Results from "../../terminal/Results.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import { allowUnplaced, changesPreview, keptLines, planAndApply } from "./PlanOfMany.ts"

const nothing = (summary: PlanSummary) =>
  Effect.succeed(
    [
      `No contact changes: ${counted(summary.read)} ${summary.read === 1 ? "is" : "are"} so already` +
        `${summary.statusesKept === 0 ? "." : `, or keep${summary.read === 1 ? "s its" : " their"} status.`}`,
      ...keptLines(summary)
    ]
      .map(printable)
      .join("\n")
  )

export const command = Command.make(
  "update",
  {
    ...selectionFlags,
    allowUnplaced,
    ...contactNames,
    customFields,
    newField,
    status: Flag.Literals("status", ContactStatus.literals).pipe(
      Flag.withDescription("Give this status to contacts that have no stricter one (docs/rules.md)"),
      Flag.withDefault(undefined)
    ),
    resubscribe,
    yes,
    confirm: confirmCount,
    dryRun
  },
  Effect.fnUntraced(function* ({ customFields, firstName, lastName, newField, resubscribe, status, ...given }) {
    // An empty text removes a field, and makes none.
    const written = Object.entries(customFields ?? {}).flatMap(([name, value]) => (value === "" ? [] : [name]))
    yield* checkNewFields(written, { newField })
    const changes = Results.omitUndefined({ customFields, firstName, lastName })
    const [email] = given.emails
    if (email === undefined || !isOne(given) || given.dryRun || status !== undefined) {
      const filter = yield* selected(given)
      const what =
        filter._tag === "ByRule"
          ? `change every contact that the rule ${ruleSource(filter.rule)} selects`
          : "change contacts"
      return yield* planAndApply(
        filter,
        {
          command: "update",
          file: given.file,
          doing: "Changing",
          what,
          input: JSON.stringify({ ...changes, ...(status === undefined ? {} : { status, resubscribe }) }),
          plan: (contacts, options) => planUpdate(contacts, { ...changes, status }, { ...options, resubscribe }),
          preview: changesPreview,
          nothing
        },
        given
      ).pipe(RunLogLayer.about(aboutSelection(given, filter)))
    }
    const { contact: updated } = yield* changeAsRun({ email, write: changes }, { command: "update" })
    yield* updated == null
      ? Results.summary({ changed: 1 }, "The contact is changed.")
      : Results.record(Contact, updated)
  })
).pipe(
  Command.validate(({ customFields, firstName, lastName, resubscribe, status, ...selection }) =>
    refuseFlags(
      [
        firstName === undefined && lastName === undefined && customFields === undefined && status === undefined,
        "There is nothing to change: add --first-name, --last-name, --field or --status."
      ],
      resubscribeNeedsStatus({ resubscribe, status }),
      ...selectionRefusals(selection)
    )
  ),
  withExamples({
    "roster contacts update ann@example.com --last-name Lee-Smith": "",
    "roster contacts update ann@example.com --field city=Paris --field plan=":
      "Set one custom field, and clear another",
    "roster contacts update --rule \"city = 'Koeln'\" --field city=Köln --dry-run":
      "Show how many contacts would change, and a few of them",
    "roster contacts update --rule \"city = 'Koeln'\" --field city=Köln": "Change all contacts that a rule selects",
    "roster contacts update --file left.csv --status Unsubscribed": "Give a status to the contacts of a file"
  }),
  withHelp({ groups: fileGroup }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
