/** `ListsService` on the database of a store. */
import {
  canonicalEmail,
  type ContactFilter,
  ContactList,
  InvalidInput,
  type KeyedCall,
  type ListContactsPage,
  ListNotFound,
  ListPayload,
  ListsService,
  ListsText,
  type ListsPage,
  ListUpdatePayload,
  maximumListsOfContact,
  NameTaken,
  maximumContactsPerAdd,
  checkedMethods
} from "@roster/domain"
import { checkPage, fnRedacted, isAddressable, notAddressable, validated, listsRefusal } from "@roster/domain/internal"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type BulkWrite, inPieces, writeMany, writtenAtOnce } from "../contacts/BulkWrites.ts"
import { LargeAnswer, makeListPages } from "../contacts/ContactPagination.ts"
import { checkEmails, checkListNames } from "../contacts/ContactValidation.ts"
import { countLists, ensureLists, findList } from "../contacts/ListMembers.ts"
import { contactsToRecord, recordedChange } from "../contacts/RecordedContacts.ts"
import { RuleScans } from "../contacts/RuleScans.ts"
import { Caller } from "../credentials/Caller.ts"
import { asCaller, checkCaller } from "../credentials/CallerCheck.ts"
import { asItWas, keyedCalls } from "../credentials/KeyedCalls.ts"
import { openRun, type RunRecorder } from "../runs/RunRecorder.ts"
import { encoded } from "../store/AnswerEncoding.ts"
import { defaultPage } from "../store/Rows.ts"
import { byEngine, dialect } from "../store/SqlDialect.ts"
import { fromSeconds } from "../store/StoreClock.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { eachInSlices, yieldToEventLoop } from "../threads/Slices.ts"

const readPayload = validated(ListPayload)
const readChanges = validated(ListUpdatePayload)

interface ListRow {
  readonly id: number
  readonly name: string
  readonly public_id: string | null
  readonly date_added: number | null
  readonly allow_unsubscribe: number
  readonly contacts?: number
}

const toList = ({ allow_unsubscribe, contacts, date_added, name, public_id }: ListRow): ContactList => ({
  listName: name,
  ...(public_id === null ? {} : { publicListId: public_id }),
  ...(date_added === null ? {} : { dateAdded: fromSeconds(Number(date_added)) }),
  allowUnsubscribe: Number(allow_unsubscribe) === 1,
  ...(contacts === undefined ? {} : { contacts: Number(contacts) })
})

/** A list as it is found. */
interface FoundList {
  readonly id: number
  readonly name: string
}

/** Puts contacts of an account on a list or takes them off, and records those that were not so. */
const placeThose = Effect.fnUntraced(function* (
  { id: list, name }: FoundList,
  isOn: boolean,
  run: RunRecorder | undefined,
  account: string,
  those: Statement.Fragment
) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOfIds, locked } = dialect(sql)
  // Nobody deletes the list before the end of the transaction.
  const shared = sql.literal(byEngine(sql, { sqlite: () => "", postgres: () => "FOR KEY SHARE" }))
  const [found] = yield* sql`SELECT id FROM lists WHERE id = ${list} ${shared}`
  if (found === undefined) return yield* new ListNotFound({ name })
  const before = run === undefined ? undefined : yield* contactsToRecord(account, those)
  const rows =
    before === undefined
      ? yield* sql`SELECT id FROM contacts WHERE account = ${account} AND ${those} ORDER BY id ${locked}`.values
      : undefined
  const ids = rows?.map(([id]) => Number(id)) ?? [...(before?.keys() ?? [])]
  const moved = yield* (
    isOn
      ? sql`
        INSERT INTO list_members (list_id, contact_id)
        SELECT ${list}, id FROM contacts WHERE account = ${account} AND ${isOneOfIds(ids)}
        ON CONFLICT (list_id, contact_id) DO NOTHING RETURNING contact_id`
      : sql`
        DELETE FROM list_members WHERE list_id = ${list} AND ${isOneOfIds(ids, "contact_id")} RETURNING contact_id`
  ).values
  if (run === undefined || before === undefined) return
  const changes = yield* eachInSlices(
    moved.map(([id]) => Number(id)).sort((a, b) => a - b),
    (id) => {
      const was = before.get(id)
      if (was === undefined) return []
      const others = [...was.lists].filter((other) => other !== name)
      return recordedChange(was, { contact: was.contact, lists: isOn ? [...others, name] : others }) ?? []
    }
  )
  yield* run.record(changes.flat())
})

const again = (operation: string) => ({
  operation,
  halfDone: {
    detail: "the store failed when a part of the contacts was done",
    recovery: "Do the same again, which does the rest."
  }
})

/** Puts contacts on a list, or takes them off. */
const bulkPlace = (operation: string, list: FoundList, isOn: boolean): BulkWrite<ListNotFound> => ({
  ...again(operation),
  write: (run, account, those) => placeThose(list, isOn, run, account, those)
})

/** Refuses to put a contact on more lists than one can be on. */
const bulkCheck = (operation: string, list: FoundList): BulkWrite<InvalidInput> => ({
  ...again(operation),
  write: Effect.fnUntraced(function* (_, account, those) {
    const sql = yield* SqlClient.SqlClient
    const [full] = yield* sql`
      SELECT contact_id FROM list_members WHERE contact_id IN (
        SELECT id FROM contacts WHERE account = ${account} AND ${those}
      ) GROUP BY contact_id HAVING count(*) >= ${sql.literal(String(maximumListsOfContact))}
        AND sum(CASE WHEN list_id = ${list.id} THEN 1 ELSE 0 END) = 0 LIMIT 1`
    if (full !== undefined) return yield* listsRefusal("list")
  })
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const scans = yield* RuleScans
  const inStore = Effect.provideService(SqlClient.SqlClient, sql)
  const columns = sql.literal("id, name, public_id, date_added, allow_unsubscribe")
  const { inByteOrder, isOneOf, isOneOfIds, lockAccounts } = dialect(sql)

  const find = Effect.fnUntraced(function* (name: string) {
    const { account } = yield* Caller
    if (!isAddressable(name)) return yield* notAddressable("list")
    const id = ListsText.isListName(name) ? yield* findList(account, name) : undefined
    const [row] = id === undefined ? [] : yield* sql<ListRow>`SELECT ${columns} FROM lists WHERE id = ${id}`
    return row ?? (yield* new ListNotFound({ name }))
  })

  const found = (name: string) => Effect.map(find(name), ({ id, name }): FoundList => ({ id: Number(id), name }))

  const list = fnRedacted("ListsService.list")(
    function* (page: ListsPage = {}) {
      const { account } = yield* Caller
      yield* checkPage(page)
      const { counts = false, limit = defaultPage, offset = 0 } = page
      const counted = counts
        ? sql`, (SELECT count(*) FROM list_members WHERE list_id = lists.id) AS contacts`
        : sql.literal("")
      const rows = yield* sql<ListRow>`
        SELECT ${columns}${counted} FROM lists WHERE account = ${account}
        ORDER BY ${inByteOrder("name")} LIMIT ${limit} OFFSET ${offset}`
      return rows.map(toList)
    },
    inStore,
    orStoreFailure("listsGet")
  )

  const get = fnRedacted("ListsService.get")(
    function* (name: string) {
      return toList(yield* find(name))
    },
    inStore,
    orStoreFailure("listsByNameGet")
  )

  const createList = Effect.fnUntraced(function* ({ allowUnsubscribe, emails = [], listName: name }: ListPayload) {
    const { account } = yield* Caller
    yield* lockAccounts([account])
    if ((yield* findList(account, name)) !== undefined) return yield* new NameTaken({ name, isOfList: true })
    yield* ensureLists(account, [name], "listName", allowUnsubscribe)
    const row = yield* find(name)
    const run = yield* openRun
    yield* inPieces(emails.map(canonicalEmail), (some) =>
      placeThose({ id: Number(row.id), name: row.name }, true, run, account, isOneOf("identity", some))
    )
    return yield* encoded(toList(row))
  })

  const createOnce = keyedCalls(sql, "listsPost", ListPayload, asItWas(ContactList))

  const create = fnRedacted("ListsService.create")(
    function* (given: ListPayload, options: KeyedCall = {}) {
      const payload = yield* readPayload(given)
      const { emails = [], listName } = payload
      yield* checkListNames("listName", [listName])
      // By such a name no path leads to the list.
      if (!isAddressable(listName)) return yield* notAddressable("listName")
      if (emails.length > maximumContactsPerAdd) {
        const issue = `a list begins with at most ${maximumContactsPerAdd} contacts; put more on it afterwards`
        return yield* new InvalidInput({ field: "emails", issue })
      }
      yield* checkEmails("emails", emails)
      return yield* createOnce(options, () => payload, asCaller(sql, "listsPost", createList(payload)))
    },
    inStore,
    // A list that was just made is there.
    Effect.catchTag("ListNotFound", Effect.die),
    orStoreFailure("listsPost")
  )

  const update = fnRedacted("ListsService.update")(
    function* (name: string, given: ListUpdatePayload) {
      const { allowUnsubscribe, newListName } = yield* readChanges(given)
      if (newListName !== undefined) {
        yield* checkListNames("newListName", [newListName])
        if (!isAddressable(newListName)) return yield* notAddressable("newListName")
      }
      const updating = Effect.gen(function* () {
        const { account } = yield* Caller
        yield* lockAccounts([account])
        const row = yield* find(name)
        const other = newListName === undefined ? undefined : yield* findList(account, newListName)
        if (newListName !== undefined && other !== undefined && other !== Number(row.id)) {
          return yield* new NameTaken({ name: newListName, isOfList: true })
        }
        const changed = {
          name: newListName ?? row.name,
          allow_unsubscribe: allowUnsubscribe === undefined ? row.allow_unsubscribe : Number(allowUnsubscribe)
        }
        yield* sql`UPDATE lists SET ${sql.update(changed)} WHERE id = ${row.id}`
        return yield* encoded(toList({ ...row, ...changed }))
      })
      return yield* asCaller(sql, "listsByNamePut", updating)
    },
    inStore,
    orStoreFailure("listsByNamePut")
  )

  const delete_ = fnRedacted("ListsService.delete")(
    function* (name: string) {
      const { account } = yield* Caller
      const list = yield* found(name)
      yield* checkCaller(sql, "listsByNameDelete")
      const deleteSome = Effect.gen(function* () {
        const run = yield* openRun
        const rows = yield* sql`
          SELECT contact_id FROM list_members WHERE list_id = ${list.id} ORDER BY contact_id LIMIT ${writtenAtOnce}`
          .values
        yield* inPieces(
          rows.map(([id]) => Number(id)),
          (some) => placeThose(list, false, run, account, isOneOfIds(some))
        )
        const isMore = rows.length === writtenAtOnce
        if (!isMore) yield* sql`DELETE FROM lists WHERE id = ${list.id}`
        return isMore
      })
      // One that has begun is finished; after a crash a repeat does the rest.
      while (yield* sql.withTransaction(deleteSome)) yield* yieldToEventLoop
    },
    Effect.uninterruptible,
    inStore,
    orStoreFailure("listsByNameDelete")
  )

  const pages = yield* makeListPages

  const contacts = fnRedacted("ListsService.contacts")(
    function* (name: string, page: ListContactsPage = {}) {
      const listed = yield* pages(name, page)
      return listed instanceof LargeAnswer ? [] : listed
    },
    inStore,
    orStoreFailure("listsByListnameContactsGet")
  )

  const add = fnRedacted("ListsService.add")(
    function* (name: string, filter: ContactFilter) {
      const operation = "listsByNameContactsPost"
      const { account } = yield* Caller
      const row = yield* find(name)
      const list = { id: Number(row.id), name: row.name }
      if ((yield* countLists(account)) > maximumListsOfContact) {
        yield* writeMany(scans, bulkCheck(operation, list), filter)
      }
      yield* writeMany(scans, bulkPlace(operation, list, true), filter)
      return toList(row)
    },
    inStore,
    orStoreFailure("listsByNameContactsPost")
  )

  const remove = fnRedacted("ListsService.remove")(
    function* (name: string, filter: ContactFilter) {
      const list = yield* found(name)
      yield* writeMany(scans, bulkPlace("listsByNameContactsRemovePost", list, false), filter)
    },
    inStore,
    orStoreFailure("listsByNameContactsRemovePost")
  )

  return checkedMethods(ListsService, { list, get, create, update, delete: delete_, contacts, add, remove })
})

/** Provides `ListsService` on the database of a store. */
export const layer: Layer.Layer<ListsService, never, SqlClient.SqlClient | RuleScans> = Layer.effect(ListsService, make)
