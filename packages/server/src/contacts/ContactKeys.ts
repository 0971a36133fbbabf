/**
 * The orders in which contacts are read, each by the key of an index: by the id, which ascends as contacts are added, or by the canonical
 * address, whose bytes are compared. A page goes on behind a key. (docs/decisions/paging.md)
 */
import { canonicalEmail, type ContactOrder, InvalidInput } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { byEngine } from "../store/SqlDialect.ts"

/** The id or the canonical address of a contact, as the order has it. */
export type ContactKey = number | string

/** An order of contacts. */
export interface KeyOrder {
  readonly column: "id" | "identity"
  readonly isBackwards: boolean
  /** A key before those of all contacts. */
  readonly beginning: ContactKey
}

/** Behind every address: longer than the longest, of the last character. */
const behindAddresses = "\u{10ffff}".repeat(255)

const orders: Readonly<Record<ContactOrder, KeyOrder>> = {
  added: { column: "id", isBackwards: false, beginning: 0 },
  "-added": { column: "id", isBackwards: true, beginning: Number.MAX_SAFE_INTEGER },
  email: { column: "identity", isBackwards: false, beginning: "" },
  "-email": { column: "identity", isBackwards: true, beginning: behindAddresses }
}

/** The order that a page names. */
export const orderOf = (sort: ContactOrder = "added"): KeyOrder => orders[sort]

/** The table of contacts, to be read in an order by its index. SQLite would read those of all accounts by their id. */
export const contactsIn = (sql: SqlClient.SqlClient, { column }: KeyOrder): Statement.Fragment =>
  byEngine(sql, {
    sqlite: () => sql.literal(column === "id" ? "contacts INDEXED BY contacts_in_order" : "contacts"),
    postgres: () => sql.literal("contacts")
  })

/** The condition of the contacts behind a key. */
export const isBehind = (
  sql: SqlClient.SqlClient,
  { column, isBackwards }: KeyOrder,
  key: ContactKey
): Statement.Fragment => sql`${sql.literal(`${column} ${isBackwards ? "<" : ">"}`)} ${key}`

/** What a statement sorts by. */
export const inOrder = ({ column, isBackwards }: KeyOrder): string => `${column}${isBackwards ? " DESC" : ""}`

/** The key behind which a page begins. By address the contact need not be there. */
export const keyBehind = Effect.fnUntraced(function* (account: string, order: KeyOrder, after: string | undefined) {
  if (after === undefined) return order.beginning
  const identity = canonicalEmail(after)
  if (order.column === "identity") return identity
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: number }>`
    SELECT id FROM contacts WHERE account = ${account} AND identity = ${identity}`
  return row === undefined ? yield* new InvalidInput({ field: "after", issue: nobody }) : Number(row.id)
})

const nobody =
  "no contact has this address, and who was added before or after it is not known; go on behind another contact of the " +
  "page, or by address"
