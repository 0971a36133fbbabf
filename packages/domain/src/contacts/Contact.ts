/** Contacts. (Service interface, Resources: Contact, ContactPayload; docs/decisions/records.md) */
import { Schema } from "effect"
import { ContactRecord, PayloadRecord } from "./ContactRecord.ts"
import { contactCodec, payloadCodec, withFastCodec } from "./FastContactCodec.ts"

/** A contact as the service returns it. Only the address is certain: a service may leave out every other field. */
export const Contact = withFastCodec(ContactRecord, contactCodec)
export interface Contact extends ContactRecord {}

/** A contact to add. An existing one keeps omitted profile fields, and its status unless one is given. */
export const ContactPayload = withFastCodec(PayloadRecord, payloadCodec)
export interface ContactPayload extends PayloadRecord {}

/** The maximum number of contacts in one add. Larger sets are imported. (Service interface, Limits.) */
export const maximumContactsPerAdd = 1000

/** The request has more contacts than are allowed. */
export class TooManyContacts extends Schema.TaggedError<TooManyContacts>()("TooManyContacts", {
  count: Schema.Int,
  maximum: Schema.Int
}) {
  override get message(): string {
    return `${this.count} contacts in one request, but at most ${this.maximum} are allowed. Send them in parts, or import them as a file.`
  }
}

/** There is no contact with this address. */
export class ContactNotFound extends Schema.TaggedError<ContactNotFound>()("ContactNotFound", {
  email: Schema.String
}) {
  override get message(): string {
    return `There is no contact ${this.email}.`
  }
}

/** There is no list with this name. */
export class ListNotFound extends Schema.TaggedError<ListNotFound>()("ListNotFound", {
  name: Schema.String
}) {
  override get message(): string {
    return `There is no list "${this.name}". Lists come into being when contacts are added with their name.`
  }
}
