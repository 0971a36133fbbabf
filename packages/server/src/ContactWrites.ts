/**
 * Adding contacts: the one statement behind `contactsPost` and the import, and the lists that go with it.
 * (docs/decisions/upsert.md)
 */
import { type ContactPayload, type ContactSource, emailIdentity } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ContactRow, toSeconds } from "./ContactRow.ts"
import { dialect } from "./SqlDialect.ts"

/**
 * Inserts a contact or merges it into the one that is there: profile fields that are given win, custom fields are merged
 * key by key, the status changes only where one is given; spelling, source and date of adding stay.
 *
 * @internal
 */
export const upsertContact = Effect.fnUntraced(function* (options: {
  readonly account: string
  readonly contact: ContactPayload
  readonly source: ContactSource
  /** Seconds. */
  readonly now: number
}) {
  const sql = yield* SqlClient.SqlClient
  const { account, contact, now, source } = options
  const { consent } = contact
  const givesStatus = contact.status === undefined ? 0 : 1
  const fields = sql`contacts.custom_fields`
  const rows = yield* sql<ContactRow>`
    INSERT INTO contacts ${sql.insert({
      account,
      identity: emailIdentity(contact.email),
      email: contact.email.trim(),
      status: contact.status ?? "Active",
      first_name: contact.firstName ?? null,
      last_name: contact.lastName ?? null,
      custom_fields: JSON.stringify(contact.customFields ?? {}),
      consent_ip: consent?.ip ?? null,
      consent_date: consent?.date == null ? null : toSeconds(consent.date),
      consent_tracking: consent?.tracking ?? null,
      source,
      date_added: now
    })}
    ON CONFLICT (account, identity) DO UPDATE SET
      first_name = coalesce(excluded.first_name, contacts.first_name),
      last_name = coalesce(excluded.last_name, contacts.last_name),
      custom_fields = ${dialect(sql).mergeFields(fields, sql`excluded.custom_fields`)},
      consent_ip = coalesce(excluded.consent_ip, contacts.consent_ip),
      consent_date = coalesce(excluded.consent_date, contacts.consent_date),
      consent_tracking = coalesce(excluded.consent_tracking, contacts.consent_tracking),
      status = CASE WHEN ${givesStatus} = 1 THEN excluded.status ELSE contacts.status END,
      status_change_date = CASE WHEN ${givesStatus} = 1 AND excluded.status <> contacts.status
        THEN ${now} ELSE contacts.status_change_date END,
      date_updated = ${now}
    RETURNING *`
  const [row] = rows
  return row ?? (yield* Effect.die(new Error("an upsert gave no row")))
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
 * @internal
 */
export const addToList = Effect.fnUntraced(function* (list: number, contact: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO list_members ${sql.insert({ list_id: list, contact_id: contact })}
    ON CONFLICT (list_id, contact_id) DO NOTHING`
})
