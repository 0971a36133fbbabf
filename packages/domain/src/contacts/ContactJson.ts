/**
 * Writes contacts as the JSON that their schema encodes, in one pass; a property test proves that both agree. With the
 * schema, a page of 1000 contacts costs the service five times the CPU. (docs/decisions/performance.md)
 */
import { Schema } from "effect"
import { encoded, JsonBuffer } from "../values/JsonBuffer.ts"
import { Contact } from "./Contact.ts"
import type { ChangeAnswerRecord } from "./ContactChange.ts"
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

/** Writes a piece of an array in UTF-8: values between commas, and what stands before and after them. */
export type WritePiece<A> = (values: ReadonlyArray<A>, before: string, after: string) => Uint8Array<ArrayBuffer>

const pieceOf =
  <A>(write: (value: A) => void): WritePiece<A> =>
  (values, before, after) => {
    buffer.clear()
    buffer.raw(before)
    values.forEach((value, index) => {
      if (index > 0) buffer.bytes(list.comma)
      write(value)
    })
    buffer.raw(after)
    return new Uint8Array(buffer.take())
  }

/** A piece of an array of contacts. */
export const contactsPiece = pieceOf<Contact>((contact) => writeContact(buffer, contact))

/** A piece of an array of answers to changes. */
export const answersPiece = pieceOf<ChangeAnswerRecord>(({ contact, lists, result }) => {
  buffer.raw(`{"Result":"${result}"`)
  if (contact !== undefined) buffer.raw(',"Contact":')
  if (contact === null) buffer.raw("null")
  else if (contact !== undefined) writeContact(buffer, contact)
  buffer.raw(lists === undefined ? "}" : `,"Lists":${JSON.stringify(lists)}}`)
})

const jsonOf =
  <A>(piece: WritePiece<A>) =>
  (values: ReadonlyArray<A>): string | Uint8Array<ArrayBuffer> => {
    const bytes = piece(values, "[", "]")
    return bytes.length > longestText ? bytes : utf8.decode(bytes)
  }

/** The JSON of an array of contacts: a text, or UTF-8 if it is long. */
export const contactsJson = jsonOf(contactsPiece)

/** The JSON of an array of answers to changes: a text, or UTF-8 if it is long. */
export const answersJson = jsonOf(answersPiece)
