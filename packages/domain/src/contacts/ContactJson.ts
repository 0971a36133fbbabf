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

const list = { open: encoded("["), comma: encoded(","), close: encoded("]") }

/** A longer text is collected in pieces, so that the buffer does not grow with it, and stays bytes. */
const longestText = 256 * 1024

/** The JSON of an array of contacts: a text, or UTF-8 if it is long. */
export const contactsJson = (contacts: ReadonlyArray<Contact>): string | Uint8Array => {
  const pieces: Array<Uint8Array<ArrayBuffer>> = []
  buffer.clear()
  buffer.bytes(list.open)
  contacts.forEach((contact, index) => {
    if (index > 0) buffer.bytes(list.comma)
    writeContact(buffer, contact)
    if (buffer.length > longestText) pieces.push(buffer.take().slice())
  })
  buffer.bytes(list.close)
  const last = buffer.take()
  return pieces.length === 0 ? utf8.decode(last) : joined(pieces, last)
}

/** Joins pieces, whose memory it frees at once: that of a large page would wait for a collection. */
const joined = (pieces: ReadonlyArray<Uint8Array<ArrayBuffer>>, last: Uint8Array): Uint8Array => {
  const length = pieces.reduce((sum, { length }) => sum + length, 0)
  const all = length + last.length
  // Resizable, since its pages go back to the system as soon as it is freed; malloc would keep them.
  const bytes = new Uint8Array(new ArrayBuffer(all, { maxByteLength: all }), 0, all)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
    piece.buffer.transfer(0)
  }
  bytes.set(last, length)
  return bytes
}
