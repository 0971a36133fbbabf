/** Writes contacts and their lists, for adds and imports alike. (docs/decisions/upsert.md) */
import {
  type ContactPayload,
  ContactSize,
  type ContactSource,
  canonicalEmail,
  type CustomFields,
  FieldNames,
  InvalidInput,
  isMailedStatus,
  listsAfter,
  maximumLists,
  maximumListsOfContact,
  withheldStatuses
} from "@roster/domain"
import { Effect, Iterable } from "effect"
import { SqlClient } from "effect/sql"
import { mergeContacts } from "./ContactMerge.ts"
import { countNewContacts } from "./ContactPagination.ts"
import { byEngine, dialect } from "../store/SqlDialect.ts"
import { givenValue, optionalFields } from "./ContactRow.ts"
import { yieldToEventLoop } from "../threads/Slices.ts"

/** The columns that an insert gives of every contact. */
const always = ["account", "identity", "email", "custom_fields", "source", "date_added", "status"]

/** An empty custom field is not stored: it removes the one that is. */
const hasEmpty = (fields: CustomFields = {}): boolean => {
  for (const name in fields) if (fields[name] === "") return true
  return false
}

// `fromEntries` keeps `__proto__`, which an assignment would not.
const withoutEmpty = (fields: CustomFields): CustomFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""))

const withheld = withheldStatuses.map((status) => `'${status}'`).join(", ")

/**
 * Upserts contacts in order: given fields win, custom fields merge by key, and an empty one goes; spelling, source and
 * the date of adding stay. Returns what `read` makes of each contact right after its turn, or `undefined` for one that
 * would exceed the bounds of `ContactSize` and is left as it was. So is one whose stored custom fields alone exceed
 * them: to merge them with each of 1000 rows would take seconds. Runs in a transaction. (docs/decisions/upsert.md)
 */
export const upsertContacts = Effect.fnUntraced(function* <A>(options: {
  readonly account: string
  readonly source: ContactSource
  /** Seconds. */
  readonly now: number
  readonly contacts: ReadonlyArray<ContactPayload>
  /** Whether contacts may get mail again that get none. */
  readonly resubscribe: boolean
  /** The canonical address of each contact, if already known. */
  readonly identities?: ReadonlyArray<string>
  readonly returning: ReadonlyArray<string>
  /** Reads these columns of a contact. */
  readonly read: (row: ReadonlyArray<unknown>) => A
}) {
  const sql = yield* SqlClient.SqlClient
  const { account, contacts, identities = [], now, read, resubscribe, returning, source } = options
  if (contacts.length === 0) return []
  const { merge, runEach } = dialect(sql)
  if (merge === undefined) {
    const canonical = contacts.map(({ email }, index) => identities[index] ?? canonicalEmail(email))
    const rows = yield* mergeContacts({ ...options, identities: canonical })
    return rows.map((row) => (row === undefined ? undefined : read(row)))
  }
  const { mayBecome, mergeFields } = merge
  // The column of a field that all of them omit is left out of the statement.
  const given = optionalFields.filter((field) => contacts.some((contact) => givenValue(field, contact) !== undefined))
  const givesStatus = contacts.some(({ status }) => status !== undefined)
  const merged = given.map(({ column }) => `${column} = coalesce(excluded.${column}, contacts.${column}),`)
  // `excluded` has the status of a new contact, even if none was given.
  const newStatus = sql`coalesce(
    CASE WHEN contacts.status IN (${sql.literal(withheld)}) THEN ${"statusOfWithheld"} ELSE ${"givenStatus"} END,
    contacts.status)`
  const mergedStatus = sql`
    status = ${newStatus},
    status_change_date = CASE WHEN ${newStatus} <> contacts.status
      THEN excluded.date_added ELSE contacts.status_change_date END,`
  const removesFields = contacts.some(({ customFields }) => hasEmpty(customFields))
  // A new contact has no field to remove, so `excluded` does not say which ones are given as empty.
  const givenFields = removesFields ? sql`${"givenFields"}` : sql`excluded.custom_fields`
  const inserted = [...always, ...given.map(({ column }) => column)]
  // Compiled with the names of its parameters in place of their values.
  const [statement, names] = sql`
    INSERT INTO contacts ${sql.insert(Object.fromEntries(inserted.map((column) => [column, column])))}
    ON CONFLICT (account, identity) DO UPDATE SET
      ${sql.literal(merged.join(" "))}
      ${givesStatus ? mergedStatus : sql.literal("")}
      custom_fields = ${mergeFields(sql`contacts.custom_fields`, givenFields)},
      date_updated = excluded.date_added
    WHERE octet_length(contacts.custom_fields) <= ${sql.literal(String(ContactSize.maximumContactBytes))}
      AND ${mayBecome(givenFields)}
    ${sql.literal(returning.length === 0 ? "" : `RETURNING ${returning.join(", ")}`)}`.compile()
  const parametersOf = (contact: ContactPayload, index: number): ReadonlyArray<unknown> => {
    const { customFields = {}, email, status } = contact
    const fields = JSON.stringify(customFields)
    const values: Record<string, unknown> = {
      account,
      identity: identities[index] ?? canonicalEmail(email),
      email: email.trim(),
      custom_fields: removesFields && hasEmpty(customFields) ? JSON.stringify(withoutEmpty(customFields)) : fields,
      source,
      date_added: now,
      status: status ?? "Active",
      givenFields: fields,
      givenStatus: status,
      statusOfWithheld: resubscribe || !isMailedStatus(status) ? status : undefined
    }
    for (const field of given) values[field.column] = givenValue(field, contact)
    return names.map((name) => values[String(name)])
  }
  // One after the other: all of them would be a copy of all contacts.
  const rows = yield* runEach(statement, Iterable.map(contacts, parametersOf), read)
  yield* countNewContacts(account)
  return rows
})

/** Removes lists that no contact is on, but some, unless an import may be about to fill them. */
const removeEmptyLists = Effect.fnUntraced(function* (account: string, kept: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds } = dialect(sql)
  const isEmpty = sql`account = ${account}
    AND NOT EXISTS (SELECT 1 FROM list_members WHERE list_id = lists.id)
    AND NOT EXISTS (
      SELECT 1 FROM jobs WHERE account = ${account} AND kind = 'Import' AND state IN ('Receiving', 'Loading')
    )`
  // A list that another transaction is putting contacts on is left.
  const locked = sql.literal(byEngine(sql, { sqlite: () => "", postgres: () => "FOR UPDATE SKIP LOCKED" }))
  const rows = yield* sql`SELECT id FROM lists WHERE ${isEmpty} ${locked}`.values
  const ids = rows.map(([id]) => Number(id)).filter((id) => !kept.includes(id))
  yield* sql`DELETE FROM lists WHERE ${isEmpty} AND ${isOneOfIds(ids)}`
})

const countLists = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM lists WHERE account = ${account}`
  return Number(row?.count ?? 0)
})

/** Locks the account if lists of some names do not exist: a request makes lists before it locks contacts. */
export const lockForLists = Effect.fnUntraced(function* (account: string, names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  for (const name of listsAfter(names)) {
    if ((yield* findList(account, name)) === undefined) return yield* dialect(sql).lockAccounts([account])
  }
})

/**
 * The ids of lists by name; creates those that do not exist. New ones take the places of lists without contacts, and
 * are refused if there are too many others.
 */
export const ensureLists = Effect.fnUntraced(function* (account: string, names: ReadonlyArray<string>, field: string) {
  const sql = yield* SqlClient.SqlClient
  const ids: Array<number> = []
  const missing: Array<string> = []
  for (const name of listsAfter(names)) {
    const found = yield* findList(account, name)
    if (found === undefined) missing.push(name)
    else ids.push(found)
  }
  if (missing.length === 0) return ids
  // No two calls make a list for the same name, or one too many: each sees those of the calls before it.
  yield* dialect(sql).lockAccounts([account])
  const most = maximumLists - missing.length
  if ((yield* countLists(account)) > most) {
    yield* removeEmptyLists(account, ids)
    if ((yield* countLists(account)) > most) {
      const issue = `an account has at most ${maximumLists} lists; take all contacts off one to make room for another`
      return yield* new InvalidInput({ field, issue })
    }
  }
  for (const name of missing) {
    if ((yield* findList(account, name)) === undefined) {
      yield* sql`INSERT INTO lists ${sql.insert({ account, name })} ON CONFLICT (account, name) DO NOTHING`
    }
    const found = yield* findList(account, name)
    if (found !== undefined) ids.push(found)
  }
  return ids
})

/** The list of a name, which is equal as those of custom fields are; of two that an older store has, the one spelled so. */
export const findList = Effect.fnUntraced(function* (account: string, name: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: number }>`SELECT id FROM lists WHERE account = ${account} AND name = ${name}`
  if (row !== undefined) return Number(row.id)
  const others = yield* sql`SELECT id, name FROM lists WHERE account = ${account} ORDER BY id`.values
  const found = others.find(([, other]) => FieldNames.foldName(String(other)) === FieldNames.foldName(name))
  return found === undefined ? undefined : Number(found[0])
})

/** Those of some canonical addresses whose contacts would be on too many lists with these. */
export const beyondLists = Effect.fnUntraced(function* (
  account: string,
  identities: ReadonlyArray<string>,
  lists: ReadonlyArray<number>
) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOf, isOneOfIds } = dialect(sql)
  if (lists.length === 0) return new Set<string>()
  const already = sql`sum(CASE WHEN ${isOneOfIds(lists, "list_id")} THEN 1 ELSE 0 END)`
  const rows = yield* sql`
    SELECT identity FROM contacts JOIN list_members ON contact_id = contacts.id
    WHERE account = ${account} AND ${isOneOf("identity", identities)} GROUP BY identity
    HAVING ${already} < ${sql.literal(String(lists.length))}
      AND count(*) - ${already} > ${sql.literal(String(maximumListsOfContact - lists.length))}`.values
  return new Set(rows.map(([identity]) => String(identity)))
})

/** Adds contacts, given by their ids, to lists. Runs in a transaction. */
export const addToLists = Effect.fnUntraced(function* (
  account: string,
  lists: ReadonlyArray<number>,
  ids: ReadonlyArray<number>
) {
  const sql = yield* SqlClient.SqlClient
  for (const [index, list] of lists.entries()) {
    if (index > 0) yield* yieldToEventLoop
    yield* sql`
      INSERT INTO list_members (list_id, contact_id)
      SELECT ${list}, id FROM contacts WHERE account = ${account} AND ${dialect(sql).isOneOfIds(ids)}
      ON CONFLICT (list_id, contact_id) DO NOTHING`
  }
})
