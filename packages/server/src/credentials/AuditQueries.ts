/** Reads the audit trail of a store, and what keys were used for. (docs/decisions/access.md) */
import { AuditDetails, AuditEntry, type AuditPage, type KeyUse, ReportedAccessLevel } from "@roster/domain"
import { Effect, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { defaultPage, readRows } from "../store/Rows.ts"
import { StoredDate, toSeconds } from "../store/StoreClock.ts"

const Row = Schema.Struct({
  ...Struct.omit(AuditEntry.fields, ["actor", "contacts"]),
  time: StoredDate,
  actor: Schema.Literals(["Owner", "Key", "Unknown"]),
  actor_name: Schema.String,
  actor_hint: Schema.String,
  details: Schema.fromJsonString(AuditDetails),
  created: Schema.NullOr(Schema.Int),
  changed: Schema.NullOr(Schema.Int),
  deleted: Schema.NullOr(Schema.Int),
  gained: Schema.NullOr(Schema.Int),
  lost: Schema.NullOr(Schema.Int)
})

const toEntry = ({
  actor,
  actor_hint,
  actor_name,
  changed,
  created,
  deleted,
  gained,
  lost,
  ...row
}: typeof Row.Type): AuditEntry => ({
  ...row,
  actor: actor === "Key" ? { _tag: actor, name: actor_name, hint: actor_hint } : { _tag: actor },
  ...(created === null
    ? {}
    : {
        contacts: {
          added: created,
          changed: changed ?? 0,
          deleted: deleted ?? 0,
          gainedMail: gained ?? 0,
          lostMail: lost ?? 0
        }
      })
})

const UseRow = Schema.Struct({
  name: Schema.String,
  level: Schema.NullOr(ReportedAccessLevel),
  last_use: Schema.NullOr(StoredDate)
})

const readRowsOfEntries = readRows(Row)
const readUses = readRows(UseRow)

/** A page of the entries, the newest first; of one account if it is given, and else of all. */
export const readEntries = Effect.fnUntraced(function* (
  account: string | undefined,
  { before, key, limit = defaultPage, since }: Omit<AuditPage, "subaccount">
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* readRowsOfEntries(sql`
    SELECT * FROM audit_entries
    WHERE ${before === undefined ? sql`1 = 1` : sql`number < ${before}`}
      AND ${account === undefined ? sql`1 = 1` : sql`account = ${account}`}
      AND ${key === undefined ? sql`1 = 1` : sql`actor = 'Key' AND actor_name = ${key}`}
      AND ${since === undefined ? sql`1 = 1` : sql`time >= ${toSeconds(since)}`}
    ORDER BY number DESC LIMIT ${limit}`)
  return rows.map(toEntry)
})

/** What each API key of an account was used for, the oldest key first. */
export const readKeyUses = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* readUses(sql`
    SELECT credentials.name, credential_uses.level, credential_uses.last_use
    FROM credentials LEFT JOIN credential_uses ON credential_uses.credential = credentials.id
    WHERE credentials.account = ${account} AND credentials.kind = 'ApiKey'
    ORDER BY credentials.id, credential_uses.level`)
  return Array.from(
    Map.groupBy(rows, ({ name }) => name),
    ([name, uses]): KeyUse => ({
      name,
      levels: uses.flatMap(({ last_use, level }) =>
        level === null || last_use === null ? [] : [{ level, lastUse: last_use }]
      )
    })
  )
})
