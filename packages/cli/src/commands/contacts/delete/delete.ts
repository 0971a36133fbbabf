/** `roster contacts delete` */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { confirmCount, yes } from "../../shared/Confirm.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { text, toggle } from "../../../settings/FlagForms.ts"
import { refuseFlags, withExamples } from "../../shared/CommonFlags.ts"
import { isByRule, selected, selectionFlags, selectionRefusals, selectionWords } from "../../shared/Selection.ts"
import { deleteByEmails, deleteByRule, deleteSnapshot, deleteUnread } from "./SnapshotDeletion.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"

export const command = Command.make(
  "delete",
  {
    ...selectionFlags,
    backup: text(
      "backup",
      "Back up the contacts to FILE before deleting them (default: a file in the state folder)",
      "FILE"
    ),
    noBackup: toggle("no-backup", "Delete the named addresses without reading and backing up their contacts"),
    snapshot: text("snapshot", "Delete the contacts in this backup, to resume a delete", "FILE"),
    yes,
    confirm: confirmCount,
    dryRun
  },
  Effect.fnUntraced(function* ({ emails, file, noBackup, rawRule, rule, snapshot, ...given }) {
    if (snapshot !== undefined) {
      const what = `delete the contacts in ${snapshot}`
      const deletion = deleteSnapshot(snapshot, { ...given, what, isSevere: false })
      return yield* Effect.asVoid(RunLogLayer.about(snapshot)(deletion))
    }
    const selection = { emails, file, rawRule, rule }
    const filter = yield* selected(selection)
    const about = RunLogLayer.about(selectionWords(selection))
    if (filter._tag === "ByEmails") {
      return yield* (noBackup ? deleteUnread : deleteByEmails)(filter.emails, given).pipe(about)
    }
    yield* deleteByRule(filter.rule, given).pipe(about)
  })
).pipe(
  Command.validate(({ backup, noBackup, snapshot, ...selection }) => {
    const isNamed = selection.emails.length > 0 || selection.file !== undefined
    return refuseFlags(
      [
        snapshot !== undefined && (isByRule(selection) || isNamed || backup !== undefined),
        "--snapshot cannot be combined with addresses, --file, --rule, --raw-rule or --backup."
      ],
      ...(snapshot === undefined ? selectionRefusals(selection, " or --snapshot") : []),
      [backup === "-", "Stdout is used for the summary: write the backup to a file."],
      [noBackup && (!isNamed || backup !== undefined), "--no-backup needs addresses, and no --backup."]
    )
  }),
  withExamples({
    "roster contacts delete ann@example.com": "",
    "roster contacts delete ann@example.com bob@example.com --yes":
      "Delete several contacts without a confirmation prompt; they are backed up first",
    "roster contacts delete --file left.csv": "Delete the contacts whose addresses are in a file",
    'roster contacts delete --rule "status = Bounced"': "Delete all contacts that a rule selects",
    'roster contacts delete --rule "status = Bounced" --dry-run': "Show the number of contacts and a few examples",
    'roster contacts delete --rule "status = Bounced" --yes --confirm 20417':
      "Without a terminal: delete only if exactly this many contacts match"
  }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
