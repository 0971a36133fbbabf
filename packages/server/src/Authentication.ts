/**
 * Who a request comes from, and whether it may do what it asks: decided before anything else of it is looked at.
 */
import { elasticEmailApiKeyHeader, apiKeyHeader, Forbidden, KeyRefused, RequiredAccess } from "@roster/api"
import { AccessDenied, type AccessLevel, Unauthorized } from "@roster/domain"
import { Clock, Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, type SqlError } from "effect/sql"
import { timingSafeEqual } from "node:crypto"
import type { AuditDetails } from "./AuditEntry.ts"
import { actorOf, recordRefusal, unhindered } from "./AuditTrail.ts"
import { Caller, type CallerIdentity, PublicAddress } from "./Caller.ts"
import type { Guard, RequestServices, Respond } from "./ContractRoutes.ts"
import { type CredentialRow, hasLevel, ipRangesOf } from "./CredentialRow.ts"
import { isInRanges } from "./IpRanges.ts"
import { peerOf, TrustedProxies } from "./Peer.ts"
import { digestOf } from "./Secret.ts"
import { orStoreFailure } from "./StoreFailure.ts"
import { orWire } from "./WireAnswer.ts"
import { makeWrongKeys } from "./WrongKeys.ts"

/**
 * Whether a request was made in this process, by whoever opened the store: it needs no key.
 *
 * @internal
 */
export const InProcess = Context.Reference<boolean>("@roster/server/InProcess", { defaultValue: () => false })

/** The use of a key is noted at most this often, in seconds, so that reading does not cost a write each time. */
const useNotedEvery = 60

interface KeyRow extends Pick<
  CredentialRow,
  "id" | "account" | "name" | "access_levels" | "ip_ranges" | "expires" | "secret_digest" | "secret_hint"
> {
  /** When the key was last used for the level that is asked for. */
  readonly level_last_use: number | null
}

/** A scheme word may stand before the key. */
const keyOf = (request: HttpServerRequest.HttpServerRequest): string | undefined => {
  const headers = [apiKeyHeader, elasticEmailApiKeyHeader].flatMap((name) => request.headers[name.toLowerCase()] ?? [])
  const [value, ...others] = headers
  const key = value?.trim().replace(/^[A-Za-z]+ +/, "")
  return others.length > 0 || key === "" ? undefined : key
}

/** The index finds a digest, of which who guesses knows nothing; that it is the right one is looked at in constant time. */
const findKey = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: string, level: AccessLevel) {
  const digest = digestOf(key)
  const [row] = yield* sql<KeyRow>`
    SELECT id, account, name, access_levels, ip_ranges, expires, secret_digest, secret_hint,
      credential_uses.last_use AS level_last_use
    FROM credentials LEFT JOIN credential_uses
      ON credential_uses.credential = credentials.id AND credential_uses.level = ${level}
    WHERE credentials.secret_digest = ${digest} AND credentials.kind = 'ApiKey'`
  return row !== undefined && timingSafeEqual(row.secret_digest, digest) ? row : undefined
})

/**
 * Notes that a key was used, and for what. The second statement is what the next look goes by: should only the first be
 * carried out, both are due again. In a transaction they could not be given up while another program holds the store.
 */
const noteUse = (sql: SqlClient.SqlClient, { id }: KeyRow, level: AccessLevel, now: number): Effect.Effect<void> =>
  Effect.andThen(
    sql`UPDATE credentials SET last_use = ${now} WHERE id = ${id}`,
    sql`
      INSERT INTO credential_uses ${sql.insert({ credential: id, level, last_use: now })}
      ON CONFLICT (credential, level) DO UPDATE SET last_use = excluded.last_use`
  ).pipe(unhindered("the use of a key could not be noted"))

const isNoted = ({ level_last_use }: KeyRow, now: number): boolean =>
  level_last_use !== null && level_last_use > now - useNotedEvery

const callerOf = ({ account, id, name, secret_hint }: KeyRow, peer: string): CallerIdentity => ({
  account,
  key: { id, name, hint: secret_hint },
  peer
})

/** Whether a key that is known may do what a request asks, and if not, what the record says of it. */
const objectionTo = (row: KeyRow, required: AccessLevel, peer: string): AuditDetails | undefined => {
  if (!hasLevel(row, required)) return { required }
  const ranges = ipRangesOf(row)
  return ranges.length > 0 && !isInRanges(peer, ranges) ? { because: "OutsideRanges" } : undefined
}

/**
 * @internal
 */
export const authentication: Effect.Effect<Guard, never, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const wrongKeys = yield* makeWrongKeys

  return ({ annotations, identifier: operation }, answer) => {
    const required = Context.getUnsafe(annotations, RequiredAccess)
    const failed = (effect: Effect.Effect<KeyRow | undefined, SqlError.SqlError>) =>
      orWire(orStoreFailure(operation)(effect))

    const refuseKey = Effect.fnUntraced(function* (row: KeyRow | undefined, peer: string) {
      const actor = row === undefined ? ({ _tag: "Unknown" } as const) : actorOf(callerOf(row, peer))
      const details: AuditDetails | undefined = row === undefined ? undefined : { because: "Expired" }
      const event = { actor, account: row?.account ?? "", peer, operation, details }
      yield* recordRefusal(sql, event, "Unauthorized")
      yield* wrongKeys.delay(peer)
      return yield* new KeyRefused({ Error: new Unauthorized({}).message })
    })

    const refuseAccess = Effect.fnUntraced(function* (row: KeyRow, peer: string, details: AuditDetails) {
      const event = { actor: actorOf(callerOf(row, peer)), account: row.account, peer, operation, details }
      yield* recordRefusal(sql, event, "AccessDenied")
      return yield* new Forbidden({ Error: new AccessDenied({ required }).message })
    })

    const respond: Respond = (incoming) =>
      Effect.contextWith((context: Context.Context<never>) => {
        if (Context.get(context, InProcess)) return answer(incoming)
        const { request } = incoming
        const peer = peerOf(request, Context.get(context, TrustedProxies))
        const key = keyOf(request)
        if (key === undefined) return refuseKey(undefined, peer)
        return Effect.flatMap(failed(findKey(sql, key, required)), (row) => {
          const now = Math.floor(Context.get(context, Clock.Clock).currentTimeMillisUnsafe() / 1000)
          if (row === undefined || (row.expires !== null && row.expires <= now)) return refuseKey(row, peer)
          const details = objectionTo(row, required, peer)
          if (details !== undefined) return refuseAccess(row, peer, details)
          const host = request.headers["host"] ?? "localhost"
          const answered = Effect.updateContext(answer(incoming), (context: Context.Context<RequestServices>) =>
            Context.add(
              Context.add(context, Caller, callerOf(row, peer)),
              PublicAddress,
              `${request.protocol ?? "http"}://${host}/v4`
            )
          )
          return isNoted(row, now) ? answered : Effect.andThen(noteUse(sql, row, required, now), answered)
        })
      })
    return respond
  }
})
