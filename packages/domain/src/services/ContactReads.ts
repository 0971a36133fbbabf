/** The records of reading without pages. (docs/decisions/reads.md) */
import { Effect, Schema } from "effect"
import { type Contact, TooManyContacts } from "../contacts/Contact.ts"
import { EmailAddress } from "../contacts/EmailAddress.ts"
import { type InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import { inputText } from "../values/OptionalField.ts"
import { payloadRecord } from "../values/WireRecord.ts"

/** The maximum number of addresses that one call looks up. */
export const maximumLookup = 1000

/** The addresses of the contacts to read. */
export const ContactLookup = payloadRecord("a lookup", {
  /** The addresses, at most 1000. */
  emails: Schema.Array(inputText(EmailAddress))
}).annotate({ identifier: "ContactLookup" })
export interface ContactLookup extends Schema.Schema.Type<typeof ContactLookup> {}

/** The rule of a search, which no address may hold. */
export class ContactSearch extends Schema.Opaque<ContactSearch>()(
  payloadRecord("a search", {
    /** The rule that selects the contacts. */
    rule: Schema.String
  }).annotate({ identifier: "ContactSearch" })
) {}

/** The contacts of a lookup. */
export interface FoundContacts {
  /** Those that exist, each once, in the order of the addresses. */
  readonly contacts: ReadonlyArray<Contact>
  /** Whether the service gave all in one answer. Where it cannot, the client gets each by its address. */
  readonly isAtOnce: boolean
}

const encodeLookup = Schema.encodeUnknownEffect(ContactLookup)

/** Refuses a lookup that no layer carries out. */
export const checkLookup = (emails: ReadonlyArray<string>): Effect.Effect<void, TooManyContacts | InvalidInput> =>
  Array.isArray(emails) && emails.length > maximumLookup
    ? Effect.fail(new TooManyContacts({ count: emails.length, maximum: maximumLookup }))
    : Effect.mapError(Effect.asVoid(encodeLookup({ emails })), (error) => invalidInput(error))
