/** Contacts as the table has them. `ContactRow.generated.ts` names their columns one by one. */
import { type Contact, ContactFields } from "@roster/domain"
import { DateTime, Stream } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { streamValues } from "../store/SqlDialect.ts"
import { toSeconds } from "../store/Timestamps.ts"
import { toContact } from "./ContactRow.generated.ts"

/** Streams the contacts of a query for `contactColumns`. */
export const streamContacts = (statement: Statement.Statement<unknown>): Stream.Stream<Contact, SqlError.SqlError> =>
  Stream.map(streamValues(statement), toContact)

/** Fields that a payload may omit: an insert sends those that any contact has, and an update can change them. */
export const optionalFields = ContactFields.addedFields.filter(({ isStored }) => !isStored)

/** What a contact gives for the column of a field; `undefined` if it gives nothing. */
export const givenValue = (
  { read }: ContactFields.ContactField,
  contact: Parameters<ContactFields.ContactField["read"]>[0]
): string | number | undefined => {
  const value = read(contact) ?? undefined
  return DateTime.isDateTime(value) ? toSeconds(value) : value
}
