/** Reads the audit trail of a store, which the HTTP interface does not expose. (docs/decisions/access.md) */
import { AccessLevel, canonicalEmail, fnRedacted, type SubaccountScope, type ServiceError } from "@roster/domain"
import { Context, type DateTime, Effect, Layer, Option, Schema, Stream, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { readRows } from "../store/Rows.ts"
import { lastOfFullPage } from "../store/SqlDialect.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { StoredDate, toSeconds } from "../store/StoreClock.ts"
import { AuditDetails, AuditEntry } from "./AuditEntry.ts"

/** Selects the entries of the audit trail to read. */
export interface AuditQuery {
  /** The account: empty for the main one, the canonical e-mail address for a subaccount (default: all accounts). */
  readonly account?: string | undefined
  /** Selects entries of this time and later. */
  readonly since?: DateTime.Utc | undefined
  /** Maximum number of entries. */
  readonly limit?: number | undefined
}

/** The levels that a key was used for, each with the time of its last use, to the minute. */
export type LevelsUsed = ReadonlyMap<AccessLevel, DateTime.Utc>

/** Reads the audit trail of a store. */
export class AuditQueries extends Context.Service<
  AuditQueries,
  {
    /** The entries, newest first. */
    readonly entries: (query?: AuditQuery) => Stream.Stream<AuditEntry, ServiceError>
    /** The levels that each API key of an account was used for, by its name. A key never used has an empty map. */
    readonly levelsUsed: (of?: SubaccountScope) => Effect.Effect<ReadonlyMap<string, LevelsUsed>, ServiceError>
  }
>()("@roster/server/AuditQueries") {}

const Row = Schema.Struct({
  ...Struct.omit(AuditEntry.fields, ["actor"]),
  time: StoredDate,
  actor: Schema.Literals(["Owner", "Key", "Unknown"]),
  actor_name: Schema.String,
  actor_hint: Schema.String,
  details: Schema.fromJsonString(AuditDetails)
})

const toEntry = ({ actor, actor_hint, actor_name, ...row }: typeof Row.Type): AuditEntry => ({
  ...row,
  actor: actor === "Key" ? { _tag: actor, name: actor_name, hint: actor_hint } : { _tag: actor }
})

const UseRow = Schema.Struct({
  name: Schema.String,
  level: Schema.NullOr(AccessLevel),
  last_use: Schema.NullOr(StoredDate)
})

const readEntries = readRows(Row)
const readUses = readRows(UseRow)

/** Entries are read in pages, because an open statement holds back the checkpoints of the store. */
const entriesPerPage = 500

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const page = fnRedacted("AuditQueries.entries")(function* (
    { account, since }: AuditQuery,
    below: number | undefined,
    size: number
  ) {
    const rows = yield* readEntries(sql`
      SELECT * FROM audit_entries
      WHERE ${below === undefined ? sql`1 = 1` : sql`number < ${below}`}
        AND ${account === undefined ? sql`1 = 1` : sql`account = ${account}`}
        AND ${since === undefined ? sql`1 = 1` : sql`time >= ${toSeconds(since)}`}
      ORDER BY number DESC LIMIT ${size}`)
    return rows.map(toEntry)
  }, orStoreFailure("auditEntries"))

  const entries = (query: AuditQuery = {}) => {
    const { limit = Number.POSITIVE_INFINITY } = query
    return Stream.paginate(undefined, (below: number | undefined) =>
      Effect.map(
        page(query, below, Math.min(entriesPerPage, limit)),
        (rows) => [rows, Option.map(lastOfFullPage(rows, entriesPerPage), ({ number }) => number)] as const
      )
    ).pipe(Stream.take(limit))
  }

  const levelsUsed = fnRedacted("AuditQueries.levelsUsed")(function* (of: SubaccountScope = {}) {
    const account = of.subaccount === undefined ? "" : canonicalEmail(of.subaccount)
    const rows = yield* readUses(sql`
      SELECT credentials.name, credential_uses.level, credential_uses.last_use
      FROM credentials LEFT JOIN credential_uses ON credential_uses.credential = credentials.id
      WHERE credentials.account = ${account} AND credentials.kind = 'ApiKey'
      ORDER BY credentials.id, credential_uses.level`)
    const used = new Map<string, Map<AccessLevel, DateTime.Utc>>()
    for (const { last_use, level, name } of rows) {
      const levels = used.get(name) ?? new Map<AccessLevel, DateTime.Utc>()
      if (level !== null && last_use !== null) levels.set(level, last_use)
      used.set(name, levels)
    }
    return used
  }, orStoreFailure("levelsUsed"))

  return AuditQueries.of({ entries, levelsUsed })
})

/** Provides `AuditQueries` on the database of a store. */
export const layer: Layer.Layer<AuditQueries, never, SqlClient.SqlClient> = Layer.effect(AuditQueries, make)
