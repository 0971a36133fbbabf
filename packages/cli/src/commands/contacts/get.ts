/** `roster contacts get` */
import { Contact, ContactsService } from "@roster/domain"
import { Effect, Schema } from "effect"
import { Command } from "effect/cli"
import * as Results from "../../terminal/Results.ts"
import { email, withExamples } from "../shared/CommonFlags.ts"
import { settings } from "../../settings/Settings.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

const encode = Schema.encodeSync(Contact)

export const command = Command.make(
  "get",
  { email },
  Effect.fnUntraced(function* ({ email }) {
    const contacts = yield* ContactsService
    const contact = yield* contacts.get(email)
    const on = yield* settings
    if (on._tag === "Remote") return yield* Results.record(Contact, contact)
    const { ContactLists } = yield* EmbeddedStore.server
    const ofContact = Effect.flatMap(ContactLists.ContactLists, (lists) => lists.of(email))
    const lists = yield* Effect.provide(ofContact, EmbeddedStore.listsOf(on.filename))
    yield* Results.row({ ...encode(contact), ...(lists.length === 0 ? {} : { Lists: lists }) })
  })
).pipe(
  withExamples({
    "roster contacts get ann@example.com": "",
    "roster contacts get ann@example.com -o json | jq .CustomFields": "Print the custom fields"
  }),
  Command.provide(TargetLayer.layer)
)
