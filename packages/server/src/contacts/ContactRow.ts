/** Contacts as the table has them. */
import { type Contact, ContactFields, JsonParser, makeEmptyRecord } from "@roster/domain"
import { DateTime, Effect, Function, Stream } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { dialect, preparedQuery, streamValues } from "../store/SqlDialect.ts"
import { sharedDate, toSeconds } from "../store/StoreClock.ts"

const { everyField, nameInCode } = ContactFields

/** The columns that make a contact. */
export const contactColumns: ReadonlyArray<string> = ["id", ...everyField.map(({ column }) => column)]

const fields = everyField.map(({ group, isAdded, isNullable, kind, name }) => ({
  name,
  group: group && nameInCode(group),
  kind,
  /** Whether a contact has the field even without a value: what a caller did not give is left out. */
  keepsNull: isNullable === true && isAdded !== true
}))

const emptyContact = makeEmptyRecord()
const emptyGroup = makeEmptyRecord()

/** Decodes a row of `contactColumns`, which SQLite returns in half the time of an object. */
export const toContact = (row: ReadonlyArray<unknown>): Contact => {
  const contact = emptyContact()
  let inGroup = contact
  let last: string | undefined
  for (let place = 0; place < fields.length; place++) {
    const field = fields[place]
    const stored = row[place + 1]
    if (field === undefined) continue
    const { group, keepsNull, kind, name } = field
    if (stored === null && !keepsNull) continue
    const value =
      kind === "texts"
        ? JsonParser.parse(String(stored))
        : kind === "date" && stored !== null
          ? sharedDate(Number(stored))
          : stored
    // The fields of a group stand together.
    if (group !== undefined && group !== last) contact[group] = inGroup = emptyGroup()
    last = group
    if (group === undefined) contact[name] = value
    else inGroup[name] = value
  }
  // A statement knows the columns of its rows, the client does not.
  return contact as unknown as Contact
}

/** Streams the contacts of a query for `contactColumns`. */
export const streamContacts = (statement: Statement.Statement<unknown>): Stream.Stream<Contact, SqlError.SqlError> =>
  Stream.map(streamValues(statement), toContact)

const queryByAddress = Function.memoize((sql: SqlClient.SqlClient) => {
  const { inByteOrder, isOneOf, locked } = dialect(sql)
  const find = (lock: Statement.Fragment) =>
    preparedQuery(
      sql,
      sql`
        SELECT ${sql.literal(contactColumns.join(", "))}, identity FROM contacts
        WHERE account = ${"account"} AND ${isOneOf("identity", [])} ORDER BY ${inByteOrder("identity")} ${lock}`
    )
  return { find: find(sql.literal("")), findLocked: find(locked) }
})

/**
 * The rows of `contactColumns` of an account by their canonical addresses; with `locks` nobody else changes them before the
 * end of the transaction.
 */
export const contactsByAddress = Effect.fnUntraced(function* (
  account: string,
  identities: ReadonlyArray<string>,
  locks = false
) {
  const { find, findLocked } = queryByAddress(yield* SqlClient.SqlClient)
  const rows = yield* (locks ? findLocked : find)([account, JSON.stringify(identities)])
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
