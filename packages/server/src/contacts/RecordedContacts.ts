/** What a run records of contacts as the table has them, and deletions that are recorded. (docs/decisions/runs.md) */
import { type Contact } from "@roster/domain"
import { type ChangeOfContact, changeOf, ContactStates, statusDateOf } from "@roster/domain/internal"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { noteWritten } from "../credentials/WrittenSums.ts"
import type { RunRecorder } from "../runs/RunRecorder.ts"
import { dialect } from "../store/SqlDialect.ts"
import { eachInSlices } from "../threads/Slices.ts"
import { contactColumns, toContact } from "./ContactRow.ts"
import { listsOf } from "./ListMembers.ts"

/** A contact with the names of its lists. */
export interface Listed {
  readonly contact: Contact
  readonly lists: Iterable<string>
}

const stateOf = (of: Listed | undefined, spelled: boolean) =>
  of === undefined ? undefined : ContactStates.stateOf(of.contact.email, of.contact, [...of.lists], { spelled })

/** What a run records of a contact; `undefined` if nothing of it changed. */
export const recordedChange = (before: Listed | undefined, after: Listed | undefined): ChangeOfContact | undefined =>
  changeOf((after ?? before)?.contact.email ?? "", stateOf(before, true), stateOf(after, false), {
    statusDate: statusDateOf(before?.contact, after?.contact),
    dateAdded: after?.contact.dateAdded
  })

/** Contacts of an account with their lists by their ids, which nobody else changes before the end of the transaction. */
export const contactsToRecord = Effect.fnUntraced(function* (account: string, those: Statement.Fragment) {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(contactColumns.join(", "))
  const rows = yield* sql`
    SELECT ${columns} FROM contacts WHERE account = ${account} AND ${those} ORDER BY id ${dialect(sql).locked}`.values
  const lists = yield* listsOf(rows.map(([id]) => Number(id)))
  return new Map(
    (yield* eachInSlices(rows, toContact)).map((contact, place) => {
      const id = Number(rows[place]?.[0])
      return [id, { contact, lists: lists.get(id) ?? [] }] as const
    })
  )
})

/** Deletes contacts of an account, and records them if there is a run. Gives the ids of those that there were. */
export const deleteThose = Effect.fnUntraced(function* (
  run: RunRecorder | undefined,
  account: string,
  those: Statement.Fragment
) {
  const sql = yield* SqlClient.SqlClient
  const before = run === undefined ? undefined : yield* contactsToRecord(account, those)
  const gone = yield* sql`DELETE FROM contacts WHERE account = ${account} AND ${those} RETURNING id`.values
  const changes = yield* eachInSlices(gone, ([id]) => recordedChange(before?.get(Number(id)), undefined) ?? [])
  yield* (
    run?.record(changes.flat()) ?? noteWritten({ created: 0, changed: 0, deleted: gone.length, gained: 0, lost: 0 })
  )
  return gone.map(([id]) => Number(id))
})
