/**
 * Adding contacts: the one statement behind `contactsPost` and the import, and the lists that go with it.
 * (docs/decisions/upsert.md)
 */
import { type ContactPayload, type ContactSource, emailIdentity } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ContactRow, type ContactValues, toSeconds } from "./ContactRow.ts"
import { dialect } from "./SqlDialect.ts"

interface ContactsToWrite {
  readonly account: string
  readonly source: ContactSource
  /** Seconds. */
  readonly now: number
}

const columnsOf = ({ account, now, source }: ContactsToWrite, contact: ContactPayload) => ({
  account,
  identity: emailIdentity(contact.email),
  email: contact.email.trim(),
  status: contact.status ?? "Active",
  first_name: contact.firstName ?? null,
  last_name: contact.lastName ?? null,
  custom_fields: JSON.stringify(contact.customFields ?? {}),
  consent_ip: contact.consent?.ip ?? null,
  consent_date: contact.consent?.date == null ? null : toSeconds(contact.consent.date),
  consent_tracking: contact.consent?.tracking ?? null,
  source,
  date_added: now
})

/**
 * Inserts contacts, one after another, or merges each into the one that is there: profile fields that are given win,
 * custom fields are merged key by key, the status changes only where one is given; spelling, source and date of adding
 * stay. Gives the values of the columns that are asked for, of each contact as it was right after its turn. In a transaction.
 *
 * @internal
 */
export const upsertContacts = Effect.fnUntraced(function* <const Columns extends ReadonlyArray<keyof ContactRow>>(
  options: ContactsToWrite & {
    readonly contacts: ReadonlyArray<ContactPayload>
    readonly returning: Columns
  }
) {
  const sql = yield* SqlClient.SqlClient
  const { contacts, returning } = options
  const [first] = contacts
  if (first === undefined) return []
  const { mergeFields, runEach } = dialect(sql)
  // `excluded` has the status that a new contact would get, whether or not one was given.
  const given = (contact: ContactPayload) => contact.status ?? null
  const [statement] = sql`
    INSERT INTO contacts ${sql.insert(columnsOf(options, first))}
    ON CONFLICT (account, identity) DO UPDATE SET
      first_name = coalesce(excluded.first_name, contacts.first_name),
      last_name = coalesce(excluded.last_name, contacts.last_name),
      custom_fields = ${mergeFields(sql`contacts.custom_fields`, sql`excluded.custom_fields`)},
      consent_ip = coalesce(excluded.consent_ip, contacts.consent_ip),
      consent_date = coalesce(excluded.consent_date, contacts.consent_date),
      consent_tracking = coalesce(excluded.consent_tracking, contacts.consent_tracking),
      status = coalesce(${given(first)}, contacts.status),
      status_change_date = CASE WHEN ${given(first)} <> contacts.status
        THEN excluded.date_added ELSE contacts.status_change_date END,
      date_updated = excluded.date_added
    ${sql.literal(returning.length === 0 ? "" : `RETURNING ${returning.join(", ")}`)}`.compile()
  const rows = yield* runEach(
    statement,
    contacts.map((contact) => [...Object.values(columnsOf(options, contact)), given(contact), given(contact)])
  )
  // As with every statement, what its rows hold is for who wrote it to say.
  return rows as ReadonlyArray<ContactValues<Columns>>
})

/**
 * The ids of lists by name, which come into being where they are not there.
 *
 * @internal
 */
export const ensureLists = Effect.fnUntraced(function* (account: string, names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const ids: Array<number> = []
  for (const name of new Set(names)) {
    yield* sql`INSERT INTO lists ${sql.insert({ account, name })} ON CONFLICT (account, name) DO NOTHING`
    const found = yield* findList(account, name)
    if (found !== undefined) ids.push(found)
  }
  return ids
})

/**
 * @internal
 */
export const findList = Effect.fnUntraced(function* (account: string, name: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: number }>`SELECT id FROM lists WHERE account = ${account} AND name = ${name}`
  return row?.id
})

/**
 * Puts contacts on lists, where they may be already. In a transaction.
 *
 * @internal
 */
export const addToLists = Effect.fnUntraced(function* (
  lists: ReadonlyArray<number>,
  contacts: ReadonlyArray<Pick<ContactRow, "id">>
) {
  const sql = yield* SqlClient.SqlClient
  const members = lists.flatMap((list) => contacts.map(({ id }) => [list, id]))
  const [statement] = sql`
    INSERT INTO list_members ${sql.insert({ list_id: 0, contact_id: 0 })}
    ON CONFLICT (list_id, contact_id) DO NOTHING`.compile()
  yield* dialect(sql).runEach(statement, members)
})
