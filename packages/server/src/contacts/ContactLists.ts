/** The lists of a store, which the interface can fill and not read, for the owner of the store: a filter selects contacts. */
import {
  canonicalEmail,
  type Contact,
  type ContactFilter,
  fnRedacted,
  type InvalidInput,
  type InvalidRule,
  ListNotFound,
  maximumListsOfContact,
  redactStreamSpans,
  type ServiceError
} from "@roster/domain"
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { openRun } from "../runs/RunRecorder.ts"
import { dialect, lastOfFullPage } from "../store/SqlDialect.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { contactColumns, toContact } from "./ContactRow.ts"
import { addToLists, ensureLists, findList } from "./ListMembers.ts"
import { recordingLists } from "./RecordedContacts.ts"
import { checkListNames, isListName, listsRefusal } from "./ContactValidation.ts"
import { selection } from "./ContactSelection.ts"

/** A list with the number of its contacts. */
export const ContactList = Schema.Struct({
  /** The name of the list. */ name: Schema.String,
  /** The number of its contacts. */ contacts: Schema.Int
}).pipe(Schema.encodeKeys({ name: "Name", contacts: "Contacts" }))
export type ContactList = typeof ContactList.Type

/** How contacts are put on a list or taken off. */
interface PlacesOptions {
  /** Counts what would change, and changes nothing (default: false). */
  readonly dryRun?: boolean
}

/** What became of the contacts that a filter selects. */
export interface ChangedPlaces {
  /** The number of contacts that it selects. */
  readonly selected: number
  /** The number of those that were put on the list or taken off it. */
  readonly changed: number
}

/** The lists of a store. */
export class ContactLists extends Context.Service<
  ContactLists,
  {
    /** All lists of the account, by name. */
    readonly list: Effect.Effect<ReadonlyArray<ContactList>, ServiceError>
    /** The contacts on a list, in the order in which they were added to the store. */
    readonly contacts: (name: string) => Stream.Stream<Contact, ListNotFound | ServiceError>
    /** The names of the lists of a contact, in alphabetical order; none for one that does not exist. */
    readonly of: (email: string) => Effect.Effect<ReadonlyArray<string>, ServiceError>
    /** Puts the contacts that a filter selects on a list, which is made if there is none. */
    readonly add: (
      name: string,
      filter: ContactFilter,
      options?: PlacesOptions
    ) => Effect.Effect<ChangedPlaces, InvalidInput | InvalidRule | ServiceError>
    /** Takes the contacts that a filter selects off a list. They stay contacts. */
    readonly remove: (
      name: string,
      filter: ContactFilter,
      options?: PlacesOptions
    ) => Effect.Effect<ChangedPlaces, ListNotFound | InvalidRule | ServiceError>
  }
>()("@roster/server/ContactLists") {}

/** Contacts are read in pages, because an open statement holds back the checkpoints of the store. */
const pageSize = 500

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const columns = sql.literal(contactColumns.map((column) => `contacts.${column}`).join(", "))

  const find = Effect.fnUntraced(function* (name: string) {
    const { account } = yield* Caller
    if (!isListName(name)) return yield* new ListNotFound({ name })
    const id = yield* Effect.provideService(findList(account, name), SqlClient.SqlClient, sql)
    return id ?? (yield* new ListNotFound({ name }))
  })

  const list = Effect.gen(function* () {
    const { account } = yield* Caller
    const rows = yield* sql<{ readonly name: string; readonly contacts: number }>`
      SELECT name, (SELECT count(*) FROM list_members WHERE list_id = lists.id) AS contacts
      FROM lists WHERE account = ${account} ORDER BY ${dialect(sql).inByteOrder("name")}`
    return rows.map(({ contacts, name }) => ({ name, contacts: Number(contacts) }))
  }).pipe(orStoreFailure("listsGet"))

  const page = fnRedacted("ContactLists.contacts")(function* (id: number, after: number) {
    const { account } = yield* Caller
    const rows = yield* sql`
      SELECT ${columns} FROM list_members
      JOIN contacts ON contacts.account = ${account} AND contacts.id = list_members.contact_id
      WHERE list_members.list_id = ${id} AND list_members.contact_id > ${after}
      ORDER BY list_members.contact_id LIMIT ${pageSize}`.values
    return [rows.map(toContact), Option.map(lastOfFullPage(rows, pageSize), ([id]) => Number(id))] as const
  }, orStoreFailure("listContactsGet"))

  const contacts: ContactLists["Service"]["contacts"] = (name) =>
    orStoreFailure("listContactsGet")(find(name)).pipe(
      Effect.map((id) => Stream.paginate(0, (after: number) => page(id, after))),
      Stream.unwrap,
      redactStreamSpans
    )

  const of = fnRedacted("ContactLists.of")(function* (email: string) {
    const { account } = yield* Caller
    const rows = yield* sql`
      SELECT name FROM contacts JOIN list_members ON contact_id = contacts.id JOIN lists ON lists.id = list_id
      WHERE contacts.account = ${account} AND identity = ${canonicalEmail(email)}
      ORDER BY ${dialect(sql).inByteOrder("name")}`.values
    return rows.map(([name]) => String(name))
  }, orStoreFailure("listsGet"))

  /** Changes the places of the selected contacts in short transactions, since others write meanwhile. */
  const changePlaces = Effect.fnUntraced(
    function* <E>(
      filter: ContactFilter,
      dryRun: boolean,
      change: (ids: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<unknown>, E | SqlError.SqlError>
    ) {
      const { account } = yield* Caller
      const { matches, where } = yield* selection(account, filter)
      const total = { selected: 0, changed: 0 }
      const columns = sql.literal(contactColumns.join(", "))
      let after = 0
      for (;;) {
        const rows = yield* sql`
        SELECT ${columns} FROM contacts WHERE ${where} AND id > ${after} ORDER BY id LIMIT ${pageSize}`.values
        const ids = rows.filter((row) => matches(toContact(row))).map(([id]) => Number(id))
        total.selected += ids.length
        const changed = Effect.flatMap(dryRun ? Effect.undefined : openRun, (run) =>
          recordingLists(run, account, ids, change(ids))
        )
        total.changed += (yield* sql.withTransaction(changed)).length
        after = Number(rows.at(-1)?.[0])
        if (rows.length < pageSize) return total
      }
    },
    Effect.provideService(SqlClient.SqlClient, sql)
  )

  const areOn = (list: number | undefined, ids: ReadonlyArray<number>) =>
    sql`SELECT contact_id FROM list_members WHERE list_id = ${list ?? 0} AND ${dialect(sql).isOneOfIds(ids, "contact_id")}`
      .values

  const add = fnRedacted("ContactLists.add")(function* (
    name: string,
    filter: ContactFilter,
    { dryRun = false }: PlacesOptions = {}
  ) {
    const { account } = yield* Caller
    yield* checkListNames("list", [name])
    return yield* changePlaces(
      filter,
      dryRun,
      Effect.fnUntraced(
        function* (ids) {
          const on = new Set((yield* areOn(yield* findList(account, name), ids)).map(([id]) => Number(id)))
          const others = ids.filter((id) => !on.has(id))
          if (dryRun || others.length === 0) return others
          const lists = yield* ensureLists(account, [name], "list")
          if (yield* hasFullContact(others)) return yield* listsRefusal("list")
          yield* addToLists(account, lists, others)
          return others
        },
        Effect.provideService(SqlClient.SqlClient, sql)
      )
    )
  }, orStoreFailure("listContactsPost"))

  /** Whether one of some contacts is on as many lists as it can be. */
  const hasFullContact = (ids: ReadonlyArray<number>) =>
    Effect.map(
      sql`
        SELECT contact_id FROM list_members WHERE ${dialect(sql).isOneOfIds(ids, "contact_id")}
        GROUP BY contact_id HAVING count(*) >= ${maximumListsOfContact} LIMIT 1`.values,
      (rows) => rows.length > 0
    )

  const remove = fnRedacted("ContactLists.remove")(function* (
    name: string,
    filter: ContactFilter,
    { dryRun = false }: PlacesOptions = {}
  ) {
    const id = yield* find(name)
    return yield* changePlaces(filter, dryRun, (ids) =>
      dryRun
        ? areOn(id, ids)
        : sql`
            DELETE FROM list_members WHERE list_id = ${id} AND ${dialect(sql).isOneOfIds(ids, "contact_id")}
            RETURNING contact_id`.values
    )
  }, orStoreFailure("listContactsDelete"))

  return ContactLists.of({ list, contacts, of, add, remove })
})

/** Provides the lists of a store. */
export const layer: Layer.Layer<ContactLists, never, SqlClient.SqlClient> = Layer.effect(ContactLists, make)
