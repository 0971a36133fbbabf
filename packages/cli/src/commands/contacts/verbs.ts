/** `roster contacts add` and `update` */
import { Contact, ContactsService, ContactStatus } from "@roster/domain"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { dryRun } from "../../terminal/DryRun.ts"
import { text } from "../../settings/FlagForms.ts"
import { customFields, email, lists, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"
import { recorded } from "./runs/RecordedRun.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

const names = {
  firstName: text("first-name", "First name", "NAME"),
  lastName: text("last-name", "Last name", "NAME")
}

export const add = Command.make(
  "add",
  {
    email,
    ...names,
    status: Flag.Literals("status", ContactStatus.literals).pipe(
      Flag.withDescription("Status (default: Active for a new contact)"),
      Flag.withDefault(undefined)
    ),
    customFields,
    lists,
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun: _dryRun, lists, ...fields }) {
    const contacts = yield* ContactsService
    const added = yield* contacts.add([Results.omitUndefined(fields)], {
      listNames: lists.length === 0 ? undefined : lists
    })
    yield* Effect.forEach(added, (contact) => Results.record(Contact, contact), { discard: true })
  })
).pipe(
  withExamples({
    "roster contacts add ann@example.com --first-name Ann --last-name Lee": "",
    "roster contacts add ann@example.com --field city=Berlin --field plan=pro --list Newsletter":
      "Set custom fields and add the contact to a list",
    "roster contacts add ann@example.com --status Unsubscribed": "Change the status of a contact"
  }),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)

export const update = Command.make(
  "update",
  { email, ...names, customFields, dryRun },
  Effect.fnUntraced(function* ({ dryRun, email, ...changes }) {
    const update = Effect.flatMap(ContactsService, (contacts) => contacts.update(email, Results.omitUndefined(changes)))
    const updated = yield* dryRun ? update : recorded({ command: "update", expected: 1 }, () => update)
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
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
