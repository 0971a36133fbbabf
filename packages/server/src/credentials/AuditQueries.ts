/**
 * What was done with credentials, what was refused, and what keys were used for: the store's own record, which only grows.
 * No operation of the interface reads it; whoever can open the store can. (docs/decisions/access.md)
 */
import { type AccessLevel, canonicalEmail, fnRedacted, type SubaccountScope, type ServiceError } from "@roster/domain"
import { Context, type DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AuditDetails, type AuditActor, type AuditEntry } from "./AuditEntry.ts"
import { methodSpan } from "../http/MethodSpan.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { fromSeconds, toSeconds } from "../store/Timestamps.ts"

export interface AuditQuery {
  /** The entries of one account: empty for the main one, the identity of its e-mail for a subaccount. All without it. */
  readonly account?: string | undefined
  /** Entries of this time and later. */
  readonly since?: DateTime.Utc | undefined
  /** The most entries to give. */
  readonly limit?: number | undefined
}

/** The levels that a key was used for, each with the time of its last use, to the minute. */
export type LevelsUsed = ReadonlyMap<AccessLevel, DateTime.Utc>

export class CredentialAudit extends Context.Service<
  CredentialAudit,
  {
    /** The record, the newest entry first. */
    readonly entries: (query?: AuditQuery) => Stream.Stream<AuditEntry, ServiceError>
    /** What each API key of an account was used for, by its name. A key that was never used has an empty map. */
    readonly levelsUsed: (of?: SubaccountScope) => Effect.Effect<ReadonlyMap<string, LevelsUsed>, ServiceError>
  }
>()("@roster/server/CredentialAudit") {}

interface AuditRow {
  readonly number: number
  readonly time: number
  readonly account: string
  readonly actor: AuditActor["_tag"]
  readonly actor_name: string
  readonly actor_hint: string
  readonly peer: string | null
  readonly operation: string
  readonly subject: string | null
  readonly outcome: string
  readonly details: string
}

const detailsOf = Schema.decodeSync(Schema.fromJsonString(AuditDetails))

const actorOf = (row: AuditRow): AuditActor =>
  row.actor === "Key" ? { _tag: "Key", name: row.actor_name, hint: row.actor_hint } : { _tag: row.actor }

const toEntry = (row: AuditRow): AuditEntry => ({
  number: row.number,
  time: fromSeconds(row.time),
  account: row.account,
  actor: actorOf(row),
  peer: row.peer,
  operation: row.operation,
  subject: row.subject,
  outcome: row.outcome,
  details: detailsOf(row.details)
})

/** Read in pages: a stream that is open holds back the checkpoints of the store. */
const pageSize = 500

interface UseRow {
  readonly name: string
  readonly level: AccessLevel | null
  readonly last_use: number | null
}

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const page = Effect.fnUntraced(
    function* ({ account, since }: AuditQuery, below: number | undefined, size: number) {
      return yield* sql<AuditRow>`
      SELECT * FROM audit_entries
      WHERE ${below === undefined ? sql`1 = 1` : sql`number < ${below}`}
        AND ${account === undefined ? sql`1 = 1` : sql`account = ${account}`}
        AND ${since === undefined ? sql`1 = 1` : sql`time >= ${toSeconds(since)}`}
      ORDER BY number DESC LIMIT ${size}`
    },
    orStoreFailure("auditEntries"),
    methodSpan("CredentialAudit.entries")
  )

  const entries = (query: AuditQuery = {}) => {
    const all = Stream.paginate(undefined, (below: number | undefined) =>
      page(query, below, Math.min(pageSize, query.limit ?? pageSize)).pipe(
        Effect.map((rows) => {
          const last = rows.length < pageSize ? undefined : rows.at(-1)
          return [rows.map(toEntry), last === undefined ? Option.none() : Option.some(last.number)] as const
        })
      )
    )
    return query.limit === undefined ? all : Stream.take(all, query.limit)
  }

  const levelsUsed = fnRedacted("CredentialAudit.levelsUsed")(function* (of: SubaccountScope = {}) {
    const account = of.subaccount === undefined ? "" : canonicalEmail(of.subaccount)
    const rows = yield* sql<UseRow>`
      SELECT credentials.name, credential_uses.level, credential_uses.last_use
      FROM credentials LEFT JOIN credential_uses ON credential_uses.credential = credentials.id
      WHERE credentials.account = ${account} AND credentials.kind = 'ApiKey'
      ORDER BY credentials.id, credential_uses.level`
    const used = new Map<string, Map<AccessLevel, DateTime.Utc>>()
    for (const { last_use, level, name } of rows) {
      const levels = used.get(name) ?? new Map<AccessLevel, DateTime.Utc>()
      if (level !== null && last_use !== null) levels.set(level, fromSeconds(last_use))
      used.set(name, levels)
    }
    return used
  }, orStoreFailure("levelsUsed"))

  return CredentialAudit.of({ entries, levelsUsed })
})

/** The record of a store. */
export const layer: Layer.Layer<CredentialAudit, never, SqlClient.SqlClient> = Layer.effect(CredentialAudit, make)
