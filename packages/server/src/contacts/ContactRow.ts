/** Contacts as the table has them. */
import { type Contact, Rule } from "@roster/domain"
import { ContactFields, JsonParser, makeEmptyRecord } from "@roster/domain/internal"
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

/** No name of a list has a line break. */
const betweenLists = "\n"

/** Behind other columns of contacts: the names of the lists of each, in one text. */
export const listsColumn =
  `, (SELECT string_agg(lists.name, '${betweenLists}') FROM list_members JOIN lists ON lists.id = list_members.list_id ` +
  "WHERE list_members.contact_id = contacts.id) AS list_names"

/** The names in that column. */
export const listNamesIn = (stored: unknown): ReadonlyArray<string> =>
  stored === null || stored === undefined ? [] : String(stored).split(betweenLists).sort()

/** Columns of contacts, and their lists if they are asked for, or a rule asks for them. */
export const columnsFor = (rule: Rule.Rule | undefined, lists = false): string =>
  contactColumns.join(", ") + (lists || (rule !== undefined && Rule.namesLists(rule)) ? listsColumn : "")

/** Decodes a row of the columns of contacts and their lists. */
export const toListed = (row: ReadonlyArray<unknown>): Contact => ({
  ...toContact(row),
  lists: listNamesIn(row[contactColumns.length])
})

/** Decodes a row of `columnsFor`. */
export const toSubject = (row: ReadonlyArray<unknown>): Contact =>
  row.length > contactColumns.length ? toListed(row) : toContact(row)

/** Streams the contacts of a query for `columnsFor`. */
export const streamContacts = (statement: Statement.Statement<unknown>): Stream.Stream<Contact, SqlError.SqlError> =>
  Stream.map(streamValues(statement), toSubject)

const queryByAddress = Function.memoize((sql: SqlClient.SqlClient) => {
  const { inByteOrder, isOneOf, locked } = dialect(sql)
  const find = (lists: boolean, lock: Statement.Fragment) =>
    preparedQuery(
      sql,
      sql`
        SELECT ${sql.literal(columnsFor(undefined, lists))}, identity FROM contacts
        WHERE account = ${"account"} AND ${isOneOf("identity", [])} ORDER BY ${inByteOrder("identity")} ${lock}`
    )
  const unlocked = sql.literal("")
  return { plain: find(false, unlocked), listed: find(true, unlocked), locked: find(false, locked) }
})

/**
 * The rows of `contactColumns` of an account by their canonical addresses: `locked`, nobody else changes them before the end of the
 * transaction, and `listed`, they are rows of `toListed`.
 */
export const contactsByAddress = Effect.fnUntraced(function* (
  account: string,
  identities: ReadonlyArray<string>,
  how: "plain" | "listed" | "locked" = "plain"
) {
  const find = queryByAddress(yield* SqlClient.SqlClient)[how]
  const rows = yield* find([account, JSON.stringify(identities)])
  // A row may be longer than its columns.
  return new Map(rows.map((row) => [String(row[contactColumns.length + (how === "listed" ? 1 : 0)]), row]))
})

/** What a contact gives for the column of a field; `undefined` if it gives nothing. */
export const givenValue = (
  { read }: ContactFields.ContactField,
  contact: Parameters<ContactFields.ContactField["read"]>[0]
): string | number | undefined => {
  const value = read(contact) ?? undefined
  return DateTime.isDateTime(value) ? toSeconds(value) : value
}
