/** `roster contacts get` */
import { Contact, ContactsService } from "@roster/domain"
import { Effect, Struct } from "effect"
import { Command } from "effect/cli"
import * as Results from "../../terminal/Results.ts"
import { email, withExamples } from "../shared/CommonFlags.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

export const command = Command.make(
  "get",
  { email },
  Effect.fnUntraced(function* ({ email }) {
    const contacts = yield* ContactsService
    const contact = yield* contacts.get(email, { lists: true })
    yield* Results.record(Contact, contact.lists?.length === 0 ? Struct.omit(contact, ["lists"]) : contact)
  })
).pipe(
  withExamples({
    "roster contacts get ann@example.com": "",
    "roster contacts get ann@example.com -o json | jq .CustomFields": "Print the custom fields"
  }),
  Command.provide(TargetLayer.layerForReads)
)
