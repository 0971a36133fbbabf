/** Lists of contacts, as the interface has them. (`packages/api/openapi.json`: ContactsList, ListPayload, ListUpdatePayload.) */
import { Schema } from "effect"
import { TaggedError } from "../errors/TaggedError.ts"
import { answerField, AnswerText, requestField } from "../values/OptionalField.ts"
import { WireDate } from "../values/WireDate.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"

/** A list of contacts. */
export class ContactList extends Schema.Opaque<ContactList>()(
  wireRecord(
    {
      /** The name, by which a list is addressed. */
      listName: AnswerText,
      /** The id, which stays when the list gets another name. */
      publicListId: answerField(Schema.String),
      /** When it was made; absent for one that is older than this date. */
      dateAdded: answerField(WireDate),
      /** Whether contacts may unsubscribe from it. */
      allowUnsubscribe: answerField(Schema.Boolean),
      /** The number of its contacts, which only a service of ours tells, and only where it is asked for. */
      contacts: answerField(Schema.Int)
    },
    { publicListId: "PublicListID" }
  ).annotate({ identifier: "ContactsList" })
) {}

/** A list to create. */
export class ListPayload extends Schema.Opaque<ListPayload>()(
  payloadRecord("a list", {
    /** The name, at most 254 characters. */
    listName: Schema.String,
    /** Whether contacts may unsubscribe from it (default: true). */
    allowUnsubscribe: requestField(Schema.Boolean),
    /** The addresses of contacts that it begins with, at most 1000 (default: none). Those without a contact are ignored. */
    emails: requestField(Schema.Array(Schema.String))
  }).annotate({ identifier: "ListPayload" })
) {}

/** The changes to a list. What is left out stays as it is. */
export class ListUpdatePayload extends Schema.Opaque<ListUpdatePayload>()(
  payloadRecord("the changes to a list", {
    /** Another name. */
    newListName: requestField(Schema.String),
    /** Whether contacts may unsubscribe from it. */
    allowUnsubscribe: requestField(Schema.Boolean)
  }).annotate({ identifier: "ListUpdatePayload" })
) {}

/** There is no list with this name. */
export class ListNotFound extends TaggedError<ListNotFound>()("ListNotFound", {
  /** The name that was asked for. */
  name: Schema.String
}) {
  override get message(): string {
    return `There is no list "${this.name}". A list is created when contacts are added with its name.`
  }
}
