/** `roster contacts delete` */
import { ContactFilter, contactFilterFromInput, ContactsService } from "@roster/domain"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { confirm, confirmCount, confirmNumber, yes } from "../../shared/Confirm.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { parseEmail, refuseFlags, text, withExamples } from "../../shared/CommonFlags.ts"
import * as Results from "../../../terminal/Results.ts"
import { filterFlags, noteFields, twoRules } from "../../shared/RuleFlags.ts"
import { deleteByRule, deleteSnapshot, mostByYes } from "./SnapshotDeletion.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { refusedHere } from "../../../errors/UsageError.ts"

const deleteByEmails = Effect.fnUntraced(function* (
  emails: readonly [string, ...ReadonlyArray<string>],
  given: { readonly yes: boolean; readonly confirm: number | undefined }
) {
  const contacts = yield* ContactsService
  const count = emails.length
  const what = count === 1 ? `the contact ${emails[0]}` : `${count} contacts, ${emails[0]} the first`
  yield* count > mostByYes
    ? confirmNumber(`delete ${what} everywhere`, count, given)
    : confirm(`delete ${what} everywhere`, given)
  // A single address has its own operation, which fails if there is no such contact.
  yield* count === 1 ? contacts.delete(emails[0]) : contacts.deleteMany(ContactFilter.ByEmails({ emails }))
  yield* Results.done(`Deleted ${what}`)
})

export const command = Command.make(
  "delete",
  {
    emails: Argument.String("email").pipe(
      Argument.withDescription("E-mail addresses of the contacts"),
      Argument.mapEffect(parseEmail("email")),
      Argument.variadic()
    ),
    ...filterFlags,
    backup: text(
      "backup",
      "Back up the contacts to FILE before deleting them (default: a file in the state folder)",
      "FILE"
    ),
    snapshot: text("snapshot", "Delete the contacts in this backup, to resume a delete", "FILE"),
    yes,
    confirm: confirmCount,
    dryRun
  },
  Effect.fnUntraced(function* ({ emails, rawRule, rule, snapshot, ...given }) {
    if (snapshot !== undefined) {
      const what = `delete the contacts in ${snapshot}`
      return yield* deleteSnapshot(snapshot, { ...given, what, isSevere: false })
    }
    const input = { rule: rule ?? rawRule, emails: emails.length === 0 ? undefined : emails }
    const filter = yield* refusedHere(contactFilterFromInput(input))
    if (Option.isNone(filter)) return
    if (filter.value._tag === "ByEmails") {
      // A dry run sends nothing, so it needs no confirmation.
      return yield* deleteByEmails(filter.value.emails, { ...given, yes: given.yes || given.dryRun })
    }
    yield* noteFields(filter.value.rule)
    yield* deleteByRule(filter.value.rule, given)
  })
).pipe(
  Command.validate(({ backup, emails, rawRule, rule, snapshot }) => {
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
      [backup !== undefined && !isByRule, "--backup needs --rule."]
    )
  }),
  withExamples({
    "roster contacts delete ann@example.com": "",
    "roster contacts delete ann@example.com bob@example.com --yes":
      "Delete several contacts without a confirmation prompt",
    'roster contacts delete --rule "status = Bounced"': "Delete all contacts that a rule selects",
    'roster contacts delete --rule "status = Bounced" --dry-run': "Show the number of contacts and a few examples",
    'roster contacts delete --rule "status = Bounced" --yes --confirm 20417':
      "Without a terminal: delete only if exactly this many contacts match"
  }),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
