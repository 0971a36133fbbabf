/** The lists of a store, which the interface can fill and not read, for the owner of the store. */
import {
  canonicalEmail,
  type Contact,
  fnRedacted,
  ListNotFound,
  redactStreamSpans,
  type ServiceError
} from "@roster/domain"
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { dialect, lastOfFullPage } from "../store/SqlDialect.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { contactColumns, toContact } from "./ContactRow.ts"
import { findList } from "./ListMembers.ts"
import { isListName } from "./ContactValidation.ts"

/** A list with the number of its contacts. */
export const ContactList = Schema.Struct({
  /** The name of the list. */ name: Schema.String,
  /** The number of its contacts. */ contacts: Schema.Int
}).pipe(Schema.encodeKeys({ name: "Name", contacts: "Contacts" }))
export type ContactList = typeof ContactList.Type

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

  return ContactLists.of({ list, contacts, of })
})

/** Provides the lists of a store. */
export const layer: Layer.Layer<ContactLists, never, SqlClient.SqlClient> = Layer.effect(ContactLists, make)
