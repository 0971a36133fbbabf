/**
 * Offset pagination over counted blocks of ids: a page skips less than one block instead of every contact before it.
 * Contacts that are not counted yet have higher ids, so they cost time but not correctness. (docs/decisions/paging.md)
 */
import {
  canonicalEmail,
  type Contact,
  type ContactsPage,
  type ListContactsPage,
  ListNotFound,
  ListsText,
  type Rule,
  ruleMatcher
} from "@roster/domain"
import { checkLookup, checkPage, ContactFields, isAddressable, isSorted, notAddressable } from "@roster/domain/internal"
import { Data, DateTime, Effect, Iterable } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { defaultPage } from "../store/Rows.ts"
import { byEngine, dialect } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { eachInSlices, yieldToEventLoop } from "../threads/Slices.ts"
import { type ContactKey, contactsIn, inOrder, isBehind, type KeyOrder, keyBehind, orderOf } from "./ContactKeys.ts"
import { columnsFor, contactsByAddress, toContact, toListed, toSubject } from "./ContactRow.ts"
import { findList } from "./ListMembers.ts"
import { RuleScans } from "./RuleScans.ts"
import { readRule } from "./ContactSelection.ts"

/** Where a contact of an answer is, and how many bytes it has there at most. */
export interface PlacedContact {
  readonly id: number
  readonly bytes: number
  /** What stands for one that is not there; any other that is not there any more is left out. */
  readonly absent?: Contact | undefined
}

/** Contacts that are too many bytes to be read at once. */
export class LargeAnswer extends Data.Class<{ readonly contacts: ReadonlyArray<PlacedContact> }> {}

const isLarge = (contacts: ReadonlyArray<PlacedContact>, most: number): boolean =>
  contacts.reduce((sum, { bytes }) => sum + bytes, 0) > most

/** Which contacts a page has. */
interface PageBehind {
  readonly order: KeyOrder
  /** The key behind which it begins. */
  readonly from: ContactKey
  readonly limit: number
  readonly offset: number
}

/** Blocks of 1024 ids. */
const blockBits = 10

/** On PostgreSQL all writers would wait for the newest block. */
const countsBlocks = (sql: SqlClient.SqlClient): boolean => byEngine(sql, { sqlite: () => true, postgres: () => false })

/** Adds the new contacts of an account to the block counts, in the transaction that inserted them. */
export const countNewContacts = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  if (!countsBlocks(sql)) return
  yield* sql`
    INSERT INTO contact_blocks
    SELECT account, id >> ${blockBits} AS block, count(*), max(id) FROM contacts INDEXED BY contacts_in_order
    WHERE account = ${account} AND id > coalesce(
      (SELECT last FROM contact_blocks WHERE account = ${account} ORDER BY block DESC LIMIT 1), 0)
    GROUP BY account, block
    ON CONFLICT (account, block) DO UPDATE SET contacts = contacts + excluded.contacts, last = excluded.last`
})

/** A page in one statement, so that the counts and the contacts are of the same moment. */
const pageOf = (
  sql: SqlClient.SqlClient,
  columns: Statement.Fragment,
  account: string,
  { limit, offset }: { readonly limit: number; readonly offset: number }
): Statement.Statement<{ readonly bytes: number }> =>
  countsBlocks(sql)
    ? sql`
      WITH counted AS (
        SELECT block, last, contacts, sum(contacts) OVER (ORDER BY block) AS until
        FROM contact_blocks WHERE account = ${account}
      ), start AS (
        SELECT block << ${blockBits} AS first, until - contacts AS before
        FROM counted WHERE until > ${offset} ORDER BY block LIMIT 1
      ), rest AS (
        SELECT max(last) + 1 AS first, max(until) AS before FROM counted
      )
      SELECT ${columns} FROM contacts INDEXED BY contacts_in_order
      WHERE account = ${account} AND id >= coalesce((SELECT first FROM start), (SELECT first FROM rest), 0)
      ORDER BY id LIMIT ${limit}
      OFFSET ${offset} - coalesce((SELECT before FROM start), (SELECT before FROM rest), 0)`
    : // What is skipped is skipped in the index alone, as far as PostgreSQL has vacuumed.
      sql`
      SELECT ${columns} FROM contacts WHERE account = ${account} AND id >= (
        SELECT id FROM contacts WHERE account = ${account} ORDER BY id LIMIT 1 OFFSET ${offset}
      ) ORDER BY id LIMIT ${limit}`

/** A page behind a key of an index. */
const pageBehind = (
  sql: SqlClient.SqlClient,
  columns: Statement.Fragment,
  account: string,
  { from, limit, offset, order }: PageBehind
): Statement.Statement<{ readonly bytes: number }> => sql`
  SELECT ${columns} FROM ${contactsIn(sql, order)} WHERE account = ${account} AND ${isBehind(sql, order, from)}
  ORDER BY ${sql.literal(inOrder(order))} LIMIT ${limit} OFFSET ${offset}`

/** Makes the function that counts the contacts of the caller, or those that a rule selects. */
export const makeCount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const scans = yield* RuleScans
  const ofAll = (account: string) =>
    countsBlocks(sql)
      ? sql`
        WITH counted AS (SELECT sum(contacts) AS contacts, max(last) AS last FROM contact_blocks WHERE account = ${account})
        SELECT coalesce((SELECT contacts FROM counted), 0) + (
          SELECT count(*) FROM contacts INDEXED BY contacts_in_order
          WHERE account = ${account} AND id > coalesce((SELECT last FROM counted), 0))`
      : sql`SELECT count(*) FROM contacts WHERE account = ${account}`
  return Effect.fnUntraced(function* ({ rule: contactRule }: Pick<ContactsPage, "rule"> = {}) {
    const { account } = yield* Caller
    yield* checkPage({ rule: contactRule })
    const rule = contactRule === undefined ? undefined : yield* readRule(contactRule)
    if (rule === undefined || rule._tag === "All") {
      const [row] = yield* ofAll(account).values
      return { count: Number(row?.[0]) }
    }
    const now = DateTime.toEpochMillis(yield* storeClock(sql).now)
    return yield* scans.count({ operation: "contactsCountGet", isDeletion: false }, { account, rule, now })
  })
})

/** Texts that may consist of characters that JSON escapes, and the bytes that it makes of each. */
const escapedFields = ContactFields.textFields.filter(({ column }) => column !== "email")
const longestEscape = 6

/** About the bytes of everything else in the JSON of a contact but its custom fields, which are JSON already. */
const fixedBytes = 500

/** The name of a list has no character with a longer escape, and stands in quotes with a comma. */
const listBytes = "2 * octet_length(lists.name) + 3"

const listsBytes =
  ` + coalesce((SELECT sum(${listBytes}) FROM list_members JOIN lists ON lists.id = list_members.list_id ` +
  "WHERE list_members.contact_id = contacts.id), 0)"

/** About the bytes of a contact in an answer, and hardly less, by the lengths that a store has beside its texts. */
const answerBytes = (sql: SqlClient.SqlClient, lists: boolean) =>
  sql.literal(
    escapedFields.reduce(
      (sum, { column }) => `${sum} + ${longestEscape} * coalesce(octet_length(${column}), 0)`,
      `octet_length(custom_fields) + ${fixedBytes}`
    ) + (lists ? listsBytes : "")
  )

/** Where contacts are. */
const sizesOf = (sql: SqlClient.SqlClient, lists: boolean) => sql`id, ${answerBytes(sql, lists)} AS bytes`

/** About the bytes of a contact in an answer. */
export const answerBytesOf = (contact: Contact): number => {
  let bytes = fixedBytes + Buffer.byteLength(JSON.stringify(contact.customFields ?? {}))
  for (const { read } of escapedFields) bytes += longestEscape * Buffer.byteLength(String(read(contact) ?? ""))
  for (const name of contact.lists ?? []) bytes += 2 * Buffer.byteLength(name) + 3
  return bytes
}

/** The contacts of the caller at some places, in the order of these. */
export const contactsAt = Effect.fnUntraced(function* (places: ReadonlyArray<PlacedContact>, lists = false) {
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Caller
  const columns = sql.literal(columnsFor(undefined, lists))
  const ids = places.map(({ id }) => id)
  // PostgreSQL has no index of the ids alone.
  const rows =
    yield* sql`SELECT ${columns} FROM contacts WHERE account = ${account} AND ${dialect(sql).isOneOfIds(ids)}`.values
  const byId = new Map(rows.map((row) => [Number(row[0]), row]))
  return places.flatMap(({ absent, id }) => {
    const row = byId.get(id)
    return row === undefined ? (absent ?? []) : toSubject(row)
  })
})

const everything = Number.POSITIVE_INFINITY

/** The contacts that one statement of a lookup reads. */
const lookedUpAtOnce = 100

/** The contacts with some addresses in the order of these, or where they are if they are more than `most` bytes. */
export const contactsWith = Effect.fnUntraced(function* (
  emails: ReadonlyArray<string>,
  lists = false,
  most = everything
) {
  const { account } = yield* Caller
  yield* checkLookup(emails)
  const contacts: Array<Contact> = []
  const places: Array<PlacedContact> = []
  let bytes = 0
  for (const identities of Iterable.chunksOf(new Set(emails.map(canonicalEmail)), lookedUpAtOnce)) {
    const rows = yield* contactsByAddress(account, identities, lists ? "listed" : "plain")
    for (const identity of identities) {
      const row = rows.get(identity)
      if (row === undefined) continue
      const contact = lists ? toListed(row) : toContact(row)
      const place = { id: Number(row[0]), bytes: answerBytesOf(contact) }
      bytes += place.bytes
      places.push(place)
      if (bytes <= most) contacts.push(contact)
    }
    yield* yieldToEventLoop
  }
  return bytes > most ? new LargeAnswer({ contacts: places }) : contacts
})

/** Reads a page by the statement that selects these columns of it: its contacts, or where they are if they may be more than `most` bytes. */
const makeReadPage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return Effect.fnUntraced(function* <E, R>(
    select: (columns: Statement.Fragment) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, E, R>,
    lists: boolean,
    most: number
  ) {
    if (most === everything) return (yield* select(sql.literal(columnsFor(undefined, lists)))).map(toSubject)
    const places = (yield* select(sizesOf(sql, lists))).map(([id, bytes]): PlacedContact => ({
      id: Number(id),
      bytes: Number(bytes)
    }))
    if (isLarge(places, most)) return new LargeAnswer({ contacts: places })
    return yield* contactsAt(places, lists)
  })
})

/** Makes the function that reads a page of the contacts on a list, as `makePages` does of all. */
export const makeListPages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const readPage = yield* makeReadPage
  return Effect.fnUntraced(function* (name: string, page: ListContactsPage, most = everything) {
    const { account } = yield* Caller
    if (!isAddressable(name)) return yield* notAddressable("list")
    yield* checkPage(page)
    const { limit = defaultPage, lists = false, offset = 0 } = page
    const list = ListsText.isListName(name) ? yield* findList(account, name) : undefined
    if (list === undefined) return yield* new ListNotFound({ name })
    return yield* readPage(
      (columns) =>
        sql`
        SELECT ${columns} FROM contacts WHERE account = ${account} AND id IN (
          SELECT contact_id FROM list_members WHERE list_id = ${list} ORDER BY contact_id LIMIT ${limit} OFFSET ${offset}
        ) ORDER BY id`.values,
      lists,
      most
    )
  })
})

/** Makes the function that reads a page: its contacts, or where they are if they may be more than `most` bytes. */
export const makePages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const scans = yield* RuleScans
  const { isOneOfIds } = dialect(sql)

  const readPage = yield* makeReadPage

  const pageByRule = Effect.fnUntraced(function* (
    account: string,
    rule: Rule.Rule,
    { from: begin, limit, offset, order }: PageBehind,
    lists: boolean,
    most: number
  ) {
    const now = yield* storeClock(sql).now
    const bounds = { operation: "contactsGet", isDeletion: false }
    const request = { account, rule, now: DateTime.toEpochMillis(now) }
    const matches = ruleMatcher(rule, now)
    const contacts: Array<Contact> = []
    const places: Array<PlacedContact> = []
    let from = { after: begin, offset }
    while (contacts.length < limit) {
      const missing = limit - contacts.length
      const { ids, last } = yield* scans.findPage(bounds, { ...request, ...from, order, limit: missing })
      const select = (columns: Statement.Fragment) =>
        sql`
        SELECT ${columns} FROM contacts WHERE account = ${account} AND ${isOneOfIds(ids)}
        ORDER BY ${sql.literal(inOrder(order))}`.values
      if (most !== everything) {
        for (const [id, bytes] of yield* select(sizesOf(sql, lists)))
          places.push({ id: Number(id), bytes: Number(bytes) })
        if (isLarge(places, most)) return new LargeAnswer({ contacts: places })
      }
      yield* eachInSlices(yield* select(sql.literal(columnsFor(rule, lists))), (row) => {
        // One that has just been changed or deleted leaves its place to the next one.
        if (matches(toSubject(row))) contacts.push(lists ? toListed(row) : toContact(row))
      })
      if (ids.length < missing) break
      from = { after: last, offset: 0 }
    }
    return contacts
  })

  return Effect.fnUntraced(function* (page: ContactsPage, most = everything) {
    const { account } = yield* Caller
    yield* checkPage(page)
    const { after, limit = defaultPage, lists = false, offset = 0, sort } = page
    const order = orderOf(sort)
    const from = yield* keyBehind(account, order, after)
    const which: PageBehind = { order, from, limit, offset }
    const rule = page.rule === undefined ? undefined : yield* readRule(page.rule)
    if (rule !== undefined && rule._tag !== "All") return yield* pageByRule(account, rule, which, lists, most)
    const select = isSorted(page) ? pageBehind : pageOf
    return yield* readPage((columns) => select(sql, columns, account, which).values, lists, most)
  })
})
