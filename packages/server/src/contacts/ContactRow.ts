/** Contacts as the table has them. `ContactRow.generated.ts` names their columns one by one. */
import type { Contact, ContactFields } from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { dialect, streamValues } from "../store/SqlDialect.ts"
import { toSeconds } from "../store/StoreClock.ts"
import { contactColumns, toContact } from "./ContactRow.generated.ts"

/** Streams the contacts of a query for `contactColumns`. */
export const streamContacts = (statement: Statement.Statement<unknown>): Stream.Stream<Contact, SqlError.SqlError> =>
  Stream.map(streamValues(statement), toContact)

/**
 * The rows of `contactColumns` of an account by their canonical addresses; with `locks` nobody else changes them before the
 * end of the transaction.
 */
export const contactsByAddress = Effect.fnUntraced(function* (
  account: string,
  identities: ReadonlyArray<string>,
  locks = false
) {
  const sql = yield* SqlClient.SqlClient
  const { inByteOrder, isOneOf, locked } = dialect(sql)
  const rows = yield* sql`
    SELECT ${sql.literal(contactColumns.join(", "))}, identity FROM contacts
    WHERE account = ${account} AND ${isOneOf("identity", identities)} ORDER BY ${inByteOrder("identity")}
    ${locks ? locked : sql.literal("")}`.values
  // A row may be longer than its columns.
  return new Map(rows.map((row) => [String(row[contactColumns.length]), row]))
})

/** What a contact gives for the column of a field; `undefined` if it gives nothing. */
export const givenValue = (
  { read }: ContactFields.ContactField,
  contact: Parameters<ContactFields.ContactField["read"]>[0]
): string | number | undefined => {
  const value = read(contact) ?? undefined
  return DateTime.isDateTime(value) ? toSeconds(value) : value
}
