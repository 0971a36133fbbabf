/**
 * Writes contacts as the JSON that their schema encodes, in one pass; a property test proves that both agree. With the
 * schema, a page of 1000 contacts costs the service five times the CPU. (docs/decisions/performance.md)
 */
import { Schema } from "effect"
import { encoded, JsonBuffer } from "../values/JsonBuffer.ts"
import { Contact } from "./Contact.ts"
import { writeContact } from "./ContactJson.generated.ts"

export { writeContact }

const encodeContact = Schema.encodeSync(Contact)

/** The JSON of a contact. For one, the schema and its fast path are faster than bytes that become a text. */
export const contactJson = (contact: Contact): string => JSON.stringify(encodeContact(contact))

const buffer = new JsonBuffer()
const utf8 = new TextDecoder()

const list = { comma: encoded(",") }

/** A longer text stays bytes. */
const longestText = 256 * 1024

/** The JSON of an array of contacts: a text, or UTF-8 if it is long. */
export const contactsJson = (contacts: ReadonlyArray<Contact>): string | Uint8Array<ArrayBuffer> => {
  const bytes = contactsPiece(contacts, "[", "]")
  return bytes.length > longestText ? bytes : utf8.decode(bytes)
}

/** A piece of that array in UTF-8: contacts between commas, and what stands before and after them. */
export const contactsPiece = (
  contacts: ReadonlyArray<Contact>,
  before: string,
  after: string
): Uint8Array<ArrayBuffer> => {
  buffer.clear()
  buffer.raw(before)
  contacts.forEach((contact, index) => {
    if (index > 0) buffer.bytes(list.comma)
    writeContact(buffer, contact)
  })
  buffer.raw(after)
  return new Uint8Array(buffer.take())
}
