/** `roster contacts add` */
import { Contact, ContactStatus, type Resubscribe, withheldStatuses } from "@roster/domain"
import { changeAsRun, resubscribeWords, type WouldResubscribe } from "@roster/workflows"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { PartlyDone } from "../../errors/UsageError.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import { Output } from "../../terminal/Output.ts"
import { printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import {
  contactNames,
  customFields,
  email,
  lists,
  refuseFlags,
  resubscribeFlag,
  resubscribeNeedsStatus,
  withExamples
} from "../shared/CommonFlags.ts"
import { confirmFact } from "../shared/Confirm.ts"
import { checkNewFields, newField } from "../shared/NewFields.ts"
import { checkListNames, createList } from "../shared/ListNames.ts"

/** What to do without a terminal if the question is to be answered yes. */
const hintOf = (kept: Pick<WouldResubscribe, "email" | "status">): string =>
  `${resubscribeWords(kept).question}? If so, run it with --resubscribe${kept.status === "Abuse" ? " Abuse" : ""}.`

export const command = Command.make(
  "add",
  {
    email,
    ...contactNames,
    status: Flag.Literals("status", ContactStatus.literals).pipe(
      Flag.withDescription("Status (default: Active for a new contact)"),
      Flag.withDefault(undefined)
    ),
    resubscribe: resubscribeFlag(
      "Let a lower status take the place of Unsubscribed, Bounced and NotConfirmed, or of those that are named; Abuse only " +
        "by its name (default: ask)"
    ),
    customFields,
    newField,
    lists,
    createList
  },
  Effect.fnUntraced(function* ({ createList, email, lists, newField, resubscribe = false, ...fields }) {
    yield* checkListNames(lists, { createList, newField })
    yield* checkNewFields(Object.keys(fields.customFields ?? {}), { newField })
    const write = { ...Results.omitUndefined(fields), ...(lists.length === 0 ? {} : { addToLists: lists }) }
    const add = (resubscribe: Resubscribe) =>
      changeAsRun({ email, write: { ...write, resubscribe } }, { command: "add", of: "any" })
    const added = yield* add(resubscribe).pipe(
      Effect.catchTag("WouldResubscribe", (kept) => {
        const { fact, question } = resubscribeWords(kept)
        return Effect.andThen(confirmFact(printable(fact), question, hintOf(kept)), add([kept.status]))
      })
    )
    const { contact, keptStatus: status } = added
    yield* contact == null
      ? Results.summary({ changed: 1 }, "The contact is changed.")
      : Results.record(Contact, contact)
    if (status === undefined && contact != null && contact.status === undefined) {
      yield* (yield* Output).note("Its status is unknown, since this key may not view contacts.")
    }
    if (status === undefined) return
    const withheld = withheldStatuses.find((withheld) => withheld === status)
    return yield* new PartlyDone({
      message: `${email} stays ${status}, since this key may not view contacts and nobody could be asked. The rest is written.`,
      hint:
        withheld === undefined
          ? "To give the status too, use a key that may view contacts."
          : hintOf({ email, status: withheld })
    })
  })
).pipe(
  Command.validate(({ resubscribe, status }) => refuseFlags(resubscribeNeedsStatus({ resubscribe, status }))),
  withExamples({
    "roster contacts add ann@example.com --first-name Ann --last-name Lee": "",
    "roster contacts add ann@example.com --field city=Berlin --field plan=pro --list Newsletter":
      "Set custom fields and add the contact to a list",
    "roster contacts add ann@example.com --status Unsubscribed": "Change the status of a contact",
    "roster contacts add ann@example.com --status Active --resubscribe": "Take somebody back who asked for mail again"
  }),
  Command.provide(RunLogLayer.layerForWrites({ makesStore: true }))
)
