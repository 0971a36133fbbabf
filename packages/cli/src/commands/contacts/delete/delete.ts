/** `roster contacts delete` */
import { contactFilterFromInput } from "@roster/domain"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { confirmCount, yes } from "../../shared/Confirm.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { text, toggle } from "../../../settings/FlagForms.ts"
import { emails, refuseFlags, withExamples } from "../../shared/CommonFlags.ts"
import { filterFlags, noteFields, twoRules } from "../../shared/RuleFlags.ts"
import { deleteByEmails, deleteByRule, deleteSnapshot, deleteUnread } from "./SnapshotDeletion.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { refusedHere } from "../../../errors/UsageError.ts"

export const command = Command.make(
  "delete",
  {
    emails: Argument.variadic(emails),
    ...filterFlags,
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
  Effect.fnUntraced(function* ({ emails, noBackup, rawRule, rule, snapshot, ...given }) {
    if (snapshot !== undefined) {
      const what = `delete the contacts in ${snapshot}`
      return yield* deleteSnapshot(snapshot, { ...given, what, isSevere: false })
    }
    const input = { rule: rule ?? rawRule, emails: emails.length === 0 ? undefined : emails }
    const filter = yield* refusedHere(contactFilterFromInput(input))
    if (Option.isNone(filter)) return
    if (filter.value._tag === "ByEmails") {
      return yield* (noBackup ? deleteUnread : deleteByEmails)(filter.value.emails, given)
    }
    yield* noteFields(filter.value.rule)
    yield* deleteByRule(filter.value.rule, given)
  })
).pipe(
  Command.validate(({ backup, emails, noBackup, rawRule, rule, snapshot }) => {
    const isByRule = rule !== undefined || rawRule !== undefined
    return refuseFlags(
      twoRules({ rule, rawRule }),
      [
        snapshot !== undefined && (isByRule || emails.length > 0 || backup !== undefined),
        "--snapshot cannot be combined with addresses, --rule, --raw-rule or --backup."
      ],
      [
        snapshot === undefined && !isByRule && emails.length === 0,
        "Name the contacts: by address, --rule or --snapshot."
      ],
      [backup === "-", "Stdout is used for the summary: write the backup to a file."],
      [noBackup && (emails.length === 0 || backup !== undefined), "--no-backup needs addresses, and no --backup."]
    )
  }),
  withExamples({
    "roster contacts delete ann@example.com": "",
    "roster contacts delete ann@example.com bob@example.com --yes":
      "Delete several contacts without a confirmation prompt; they are backed up first",
    'roster contacts delete --rule "status = Bounced"': "Delete all contacts that a rule selects",
    'roster contacts delete --rule "status = Bounced" --dry-run': "Show the number of contacts and a few examples",
    'roster contacts delete --rule "status = Bounced" --yes --confirm 20417':
      "Without a terminal: delete only if exactly this many contacts match"
  }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
