/**
 * What an import takes of a row. An ordinary one, whose bytes were looked at already, is read from its JSON, which costs a
 * tenth of reading its cells by the schema of a contact.
 */
import type { ContactPayload, ContactRow, PlainContact } from "@roster/domain"
import { Result } from "effect"
import { textsRefusal } from "./ContactInput.ts"

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** The fields that an ordinary row can have, as the interface names them. */
interface PlainFields {
  readonly Email: ContactPayload["email"]
  readonly FirstName?: string
  readonly LastName?: string
  readonly CustomFields?: ContactPayload["customFields"] & {}
}

let room = new Uint8Array(4096)

const plainPayload = (plain: PlainContact): ContactPayload => {
  const { jsonLimit } = plain
  if (jsonLimit > room.length) room = new Uint8Array(jsonLimit)
  // What `writeJson` promises: what the interface takes, of the fields that an ordinary row can have.
  const fields = JSON.parse(utf8.decode(room.subarray(0, plain.writeJson(room, 0)))) as PlainFields
  const { CustomFields: customFields, Email: email, FirstName: firstName, LastName: lastName } = fields
  return {
    email,
    ...(firstName === undefined ? {} : { firstName }),
    ...(lastName === undefined ? {} : { lastName }),
    ...(customFields === undefined ? {} : { customFields })
  }
}

/**
 * The contact of a row, or why the store does not take it.
 *
 * @internal
 */
export const readRow = (row: ContactRow): Result.Result<ContactPayload, string> => {
  const { plain } = row
  const contact = plain === undefined ? row.contact : Result.succeed(plainPayload(plain))
  if (Result.isFailure(contact)) return contact
  const refusal = textsRefusal(contact.success, "")
  return refusal === undefined ? contact : Result.fail(refusal.message)
}
