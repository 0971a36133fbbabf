/** `roster contacts add` */
import { Contact, ContactsService, ContactStatus } from "@roster/domain"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { contactNames, customFields, email, lists, withExamples } from "../shared/CommonFlags.ts"
import { checkListNames, createList } from "../shared/ListNames.ts"
import * as Results from "../../terminal/Results.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

export const command = Command.make(
  "add",
  {
    email,
    ...contactNames,
    status: Flag.Literals("status", ContactStatus.literals).pipe(
      Flag.withDescription("Status (default: Active for a new contact)"),
      Flag.withDefault(undefined)
    ),
    customFields,
    lists,
    createList
  },
  Effect.fnUntraced(function* ({ createList, lists, ...fields }) {
    yield* checkListNames(lists, { createList })
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
  Command.provide(TargetLayer.layerForWrites({ makesStore: true }))
)
