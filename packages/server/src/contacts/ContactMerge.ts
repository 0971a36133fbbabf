/**
 * Changes of contacts that are locked, merged here and written back: upserts on PostgreSQL, which has no functions of ours
 * and inserts and writes as one set, and the update of one contact on either engine. (docs/decisions/upsert.md)
 */
import {
  ContactFields,
  type ContactPayload,
  ContactSize,
  type ContactSource,
  type ContactUpdatePayload,
  type CustomFields,
  JsonParser,
  mergedFields,
  statusKept
} from "@roster/domain"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { byEngine, dialect } from "../store/SqlDialect.ts"
import { fromSeconds } from "../store/StoreClock.ts"
import { eachInSlices } from "../threads/Slices.ts"
import { contactColumns, toColumns } from "./ContactRow.generated.ts"
import { contactsByAddress, givenValue, optionalFields } from "./ContactRow.ts"

/** A contact as it is stored, in the order of `contactColumns`. */
type Values = Array<unknown>

const places = new Map(contactColumns.map((column, place) => [column, place]))

const placeOf = (column: string): number => places.get(column) ?? -1

const columns = {
  id: placeOf("id"),
  status: placeOf("status"),
  customFields: placeOf("custom_fields"),
  dateUpdated: placeOf("date_updated"),
  statusChangeDate: placeOf("status_change_date")
}

/** What a change of a contact may write beside its date. */
export const updatedColumns = [
  "status",
  "custom_fields",
  ...optionalFields.map(({ column }) => column),
  "status_change_date"
]

const updated = ["id", ...updatedColumns]

const numbers = new Set([
  "id",
  ...ContactFields.allFields.flatMap(({ column, kind }) => (kind === "date" || kind === "number" ? [column] : []))
])

/** Columns as rows of a table `given`. Numbers are sent as texts, so that every list has one type. */
const unnested = (names: ReadonlyArray<string>, from: number) => {
  const lists = names.map((_, index) => `$${from + index}::text[]`)
  return `unnest(${lists.join(", ")}) AS given (${names.join(", ")})`
}

const valueOf = (name: string) => `given.${name}${numbers.has(name) ? "::bigint" : ""}`

// Numbered in the order in which they are given, and inserted in one order for all: two that add the same contacts then
// wait for each other in turn, and not both for the other.
const insertionOf = (columns: ReadonlyArray<string>) => `
  WITH numbered AS MATERIALIZED (
    SELECT nextval('contacts_id_seq') AS id, given.* FROM ${unnested(columns, 4)}
  )
  INSERT INTO contacts (account, source, date_added, id, ${columns.join(", ")}) OVERRIDING SYSTEM VALUE
  SELECT $1, $2, $3::bigint, id, ${columns.map(valueOf).join(", ")} FROM numbered AS given
  ORDER BY identity COLLATE "C"
  ON CONFLICT (account, identity) DO NOTHING RETURNING identity, id`

/**
 * Inserts contacts that are not there, and gives the ids of those. A list of nothing but NULL would cost as one of
 * values.
 */
export const insertNew = Effect.fnUntraced(function* (
  options: { readonly account: string; readonly source: ContactSource; readonly now: number },
  contacts: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]>
) {
  const sql = yield* SqlClient.SqlClient
  const { account, now, source } = options
  const rows = contacts.map(([, values]) => values)
  const given = optionalFields
    .map(({ column }) => column)
    .filter((column) => rows.some((row) => row[placeOf(column)] !== null))
  const columns = ["email", "status", "custom_fields", ...given]
  const lists = [textList(contacts.map(([identity]) => identity)), ...listsOf(columns, rows)]
  return yield* sql.unsafe(insertionOf(["identity", ...columns]), [account, source, now, ...lists]).values
})

const change = `
  UPDATE contacts SET date_updated = $1::bigint, ${updatedColumns
    .map((name) => `${name} = ${valueOf(name)}`)
    .join(", ")}
  FROM ${unnested(updated, 3)} WHERE contacts.account = $2 AND contacts.id = given.id::bigint`

const quoted = (text: string | null): string => (text === null ? "NULL" : `"${text.replace(/[\\"]/g, "\\$&")}"`)

/** A list of texts as one parameter, for a place that says `::text[]`. */
const textList = (texts: ReadonlyArray<string | null>): string => `{${texts.map(quoted).join(",")}}`

const textOrNull = (value: unknown): string | null => (value == null ? null : String(value))

const listsOf = (names: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<unknown>>) =>
  names.map((name) => textList(rows.map((row) => textOrNull(row[placeOf(name)]))))

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** The texts that `ContactSize` bounds. */
const textsOf = (values: Values): ReadonlyArray<string | undefined> =>
  ContactFields.textFields.map(({ column }) => text(values[placeOf(column)]))

/** Merges what is given into what is stored; `undefined` if the contact may not become that. */
const merge = (
  stored: Values,
  given: ContactPayload | ContactUpdatePayload,
  { now, resubscribe }: { readonly now: number; readonly resubscribe: boolean }
): Values | undefined => {
  // This module wrote it: an object of strings.
  const fields = JsonParser.parse(text(stored[columns.customFields]) ?? "{}") as CustomFields
  const customFields = given.customFields === undefined ? fields : mergedFields(fields, given.customFields)
  const merged = [...stored]
  for (const field of optionalFields) {
    const value = givenValue(field, given)
    if (value !== undefined) merged[placeOf(field.column)] = value
  }
  const before = { texts: textsOf(stored), customFields: fields }
  const after = { texts: textsOf(merged), customFields }
  const json = JSON.stringify(customFields)
  if (!ContactSize.surelyFits(json, after) && !ContactSize.mayBecome(before, after)) return undefined
  merged[columns.customFields] = json
  const status = "status" in given ? given.status : undefined
  const mayGive = resubscribe || statusKept(stored[columns.status], status) === undefined
  if (status !== undefined && mayGive && status !== stored[columns.status]) {
    merged[columns.status] = status
    merged[columns.statusChangeDate] = now
  }
  merged[columns.dateUpdated] = now
  return merged
}

/** A new contact. An empty custom field is not stored. */
const fresh = (given: ContactPayload, source: ContactSource, now: number): Values => {
  const customFields = mergedFields({}, given.customFields ?? {})
  const contact = { ...given, email: given.email.trim(), customFields, source, dateAdded: fromSeconds(now) }
  return [undefined, ...Object.values(toColumns(contact))]
}

const isOversized = (stored: Values): boolean =>
  Buffer.byteLength(text(stored[columns.customFields]) ?? "") > ContactSize.maximumContactBytes

const changeOfEach = `
  UPDATE contacts SET date_updated = ?, ${updatedColumns.map((name) => `${name} = ?`).join(", ")}
  WHERE account = ? AND id = ?`

/** Writes contacts that are there, on either engine. */
export const writeAll = Effect.fnUntraced(function* (
  account: string,
  rows: ReadonlyArray<ReadonlyArray<unknown>>,
  now: number
) {
  const sql = yield* SqlClient.SqlClient
  yield* byEngine<Effect.Effect<unknown, SqlError.SqlError>>(sql, {
    sqlite: () => {
      const parameters = rows.map((row) => [now, ...updatedColumns.map((name) => row[placeOf(name)]), account, row[0]])
      return dialect(sql).runEach(changeOfEach, parameters, () => undefined)
    },
    postgres: () => sql.unsafe(change, [now, account, ...listsOf(updated, rows)]).values
  })
})

interface Upsert {
  readonly account: string
  readonly source: ContactSource
  readonly now: number
  readonly contacts: ReadonlyArray<ContactPayload>
  readonly identities: ReadonlyArray<string>
  readonly resubscribe: boolean
  readonly returning: ReadonlyArray<string>
}

/** Inserts what is not there and locks what is. Gives the contacts as they are now by address, and which are new. */
const insertOrLock = Effect.fnUntraced(function* (options: Upsert, fresh: ReadonlyMap<string, Values>) {
  const current = new Map<string, Values>()
  const isNew = new Set<string>()
  // Once, unless another one deletes a contact after the insert left it alone and before it is locked.
  while (current.size < fresh.size) {
    const missing = [...fresh].filter(([identity]) => !current.has(identity))
    const ids = new Map((yield* insertNew(options, missing)).map(([identity, id]) => [String(identity), id]))
    for (const [identity, values] of missing) {
      if (!ids.has(identity)) continue
      values[columns.id] = ids.get(identity)
      isNew.add(identity)
      current.set(identity, values)
    }
    const existing = missing.flatMap(([identity]) => (ids.has(identity) ? [] : [identity]))
    if (existing.length === 0) break
    for (const [identity, values] of yield* contactsByAddress(options.account, existing, true))
      current.set(identity, values)
  }
  return { current, isNew }
})

/** The upsert of `ContactUpsert`, for contacts with these canonical addresses. */
export const mergeContacts = Effect.fnUntraced(function* (options: Upsert) {
  const { account, contacts, identities, now, returning, source } = options
  const given = contacts.map((contact, index) => [identities[index] ?? "", contact] as const)
  const first = new Map<string, Values>()
  yield* eachInSlices(given, ([identity, contact]) => {
    if (!first.has(identity)) first.set(identity, fresh(contact, source, now))
  })
  const { current, isNew } = yield* insertOrLock(options, first)
  const changed = new Map<string, Values>()
  const results = yield* eachInSlices(given, ([identity, contact]): ReadonlyArray<unknown> | undefined => {
    const stored = current.get(identity)
    if (stored === undefined) return undefined
    const isFirst = isNew.delete(identity)
    const values = isFirst ? stored : isOversized(stored) ? undefined : merge(stored, contact, options)
    if (values === undefined) return undefined
    if (!isFirst) changed.set(identity, values)
    current.set(identity, values)
    return returning.map((column) => values[placeOf(column)])
  })
  if (changed.size > 0) yield* writeAll(account, [...changed.values()], now)
  return results
})

/** Changes a contact: gives its values, `undefined` if there is none, or why it may not become that. */
export const mergeContact = Effect.fnUntraced(function* (
  account: string,
  identity: string,
  changes: ContactUpdatePayload,
  now: number
) {
  const stored = (yield* contactsByAddress(account, [identity], true)).get(identity)
  if (stored === undefined) return undefined
  const values = merge(stored, changes, { now, resubscribe: false })
  if (values === undefined) return "TooLarge"
  yield* writeAll(account, [values], now)
  return values
})
