/** The lists of contacts by name, and which contacts are on them. (docs/decisions/upsert.md) */
import { InvalidInput, maximumLists, maximumListsOfContact } from "@roster/domain"
import { FieldNames, listsAfter } from "@roster/domain/internal"
import { Effect, Iterable } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { SqlClient } from "effect/sql"
import { dialect } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { yieldToEventLoop } from "../threads/Slices.ts"

/** The contacts whose lists are read at once. */
const readAtOnce = 100

/** The names of the lists of contacts by their ids. */
export const listsOf = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  const names = new Map(ids.map((id) => [id, new Set<string>()]))
  for (const some of Iterable.chunksOf(ids, readAtOnce)) {
    const rows = yield* sql`
      SELECT contact_id, name FROM list_members JOIN lists ON lists.id = list_id
      WHERE ${dialect(sql).isOneOfIds(some, "contact_id")}`.values
    for (const [id, name] of rows) names.get(Number(id))?.add(String(name))
    yield* yieldToEventLoop
  }
  return names
})

/** The number of lists of an account. */
export const countLists = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM lists WHERE account = ${account}`
  return Number(row?.count ?? 0)
})

/** Locks the account if lists of some names do not exist: a request makes lists before it locks its run and contacts. */
export const lockForLists = Effect.fnUntraced(function* (account: string, names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  for (const name of listsAfter(names)) {
    if ((yield* findList(account, name)) === undefined) return yield* dialect(sql).lockAccounts([account])
  }
})

/**
 * The ids of lists by name; creates those that do not exist, and refuses them if there would be too many.
 */
export const ensureLists = Effect.fnUntraced(function* (
  account: string,
  names: ReadonlyArray<string>,
  field: string,
  allowUnsubscribe = true
) {
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
  if ((yield* countLists(account)) > maximumLists - missing.length) {
    const issue = `an account has at most ${maximumLists} lists; delete one to make room for another`
    return yield* new InvalidInput({ field, issue })
  }
  for (const name of missing) {
    if ((yield* findList(account, name)) === undefined) {
      const row = {
        account,
        name,
        public_id: (yield* WebCrypto).randomUUID(),
        date_added: yield* storeClock(sql).seconds,
        allow_unsubscribe: Number(allowUnsubscribe)
      }
      yield* sql`INSERT INTO lists ${sql.insert(row)} ON CONFLICT (account, name) DO NOTHING`
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

/** The lists of a contact before and after a call. */
export interface Places {
  readonly id: number
  readonly before: ReadonlySet<string>
  readonly after: ReadonlySet<string>
}

/** Puts contacts on lists and takes them off, by what they were on before. */
export const writeLists = Effect.fnUntraced(function* (account: string, places: ReadonlyArray<Places>) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds } = dialect(sql)
  /** The contacts that are on a list in one of two states alone, by the list. */
  const newOn = (state: "before" | "after", other: "before" | "after") => {
    const pairs = places.flatMap((one) =>
      [...one[state]].flatMap((name) => (one[other].has(name) ? [] : [{ name, id: one.id }]))
    )
    return [...Map.groupBy(pairs, ({ name }) => name)].map(([name, of]) => [name, of.map(({ id }) => id)] as const)
  }
  for (const [name, members] of newOn("after", "before").sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield* addToLists(account, yield* ensureLists(account, [name], "addToLists"), members)
  }
  for (const [name, members] of newOn("before", "after")) {
    const list = yield* findList(account, name)
    yield* sql`DELETE FROM list_members WHERE list_id = ${list ?? 0} AND ${isOneOfIds(members, "contact_id")}`
    yield* yieldToEventLoop
  }
})
