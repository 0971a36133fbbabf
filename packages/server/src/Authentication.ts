/**
 * Who a request comes from, and whether it may do what it asks: decided before anything else of it is looked at.
 */
import { ApiKeyAuth, elasticEmailApiKeyHeader, apiKeyHeader, Forbidden, KeyRefused, RequiredAccess } from "@roster/api"
import { AccessDenied, Unauthorized } from "@roster/domain"
import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller, PublicAddress } from "./Caller.ts"
import { accessLevelsOf, type CredentialRow, ipRangesOf } from "./CredentialRow.ts"
import { isInRanges } from "./IpRanges.ts"
import { nowSeconds } from "./Job.ts"
import { digestOf } from "./Secret.ts"
import { orStoreFailure } from "./StoreFailure.ts"
import { orWire } from "./WireAnswer.ts"

/**
 * Whether a request was made in this process, by whoever opened the store: it needs no key.
 *
 * @internal
 */
export const InProcess = Context.Reference<boolean>("@roster/server/InProcess", { defaultValue: () => false })

/** The use of a key is noted at most this often, in seconds, so that reading does not cost a write each time. */
const useNotedEvery = 60

/** A scheme word may stand before the key. */
const keyOf = (request: HttpServerRequest.HttpServerRequest): string | undefined => {
  const headers = [apiKeyHeader, elasticEmailApiKeyHeader].flatMap((name) => request.headers[name.toLowerCase()] ?? [])
  const [value, ...others] = headers
  const key = value?.trim().replace(/^[A-Za-z]+ +/, "")
  return others.length > 0 || key === "" ? undefined : key
}

const refused = () => new KeyRefused({ Error: new Unauthorized({}).message })

const findKey = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: string, now: number) {
  const [row] = yield* sql<CredentialRow>`
    SELECT * FROM credentials WHERE secret_digest = ${digestOf(key)} AND kind = 'ApiKey'`
  return row === undefined || (row.expires !== null && row.expires <= now) ? undefined : row
})

const noteUse = (sql: SqlClient.SqlClient, row: CredentialRow, now: number) =>
  row.last_use !== null && row.last_use > now - useNotedEvery
    ? Effect.void
    : Effect.asVoid(sql`UPDATE credentials SET last_use = ${now} WHERE id = ${row.id}`)

/**
 * @internal
 */
export const authentication: Layer.Layer<ApiKeyAuth, never, SqlClient.SqlClient> = Layer.effect(
  ApiKeyAuth,
  Effect.map(SqlClient.SqlClient, (sql) =>
    ApiKeyAuth.of({
      apiKey: Effect.fnUntraced(function* (httpEffect, { endpoint }) {
        if (yield* InProcess) return yield* httpEffect
        const request = yield* HttpServerRequest.HttpServerRequest
        const required = Context.getUnsafe(endpoint.annotations, RequiredAccess)
        const now = yield* nowSeconds
        const inStore = <A>(effect: Effect.Effect<A, SqlError.SqlError>) =>
          effect.pipe(orStoreFailure(endpoint.identifier), orWire)
        const key = keyOf(request)
        const row = key === undefined ? undefined : yield* inStore(findKey(sql, key, now))
        if (row === undefined) return yield* refused()
        const levels = new Set(accessLevelsOf(row))
        const ranges = ipRangesOf(row)
        const peer = Option.getOrElse(request.remoteAddress, () => "")
        if (!levels.has(required) || (ranges.length > 0 && !isInRanges(peer, ranges))) {
          return yield* new Forbidden({ Error: new AccessDenied({ required }).message })
        }
        yield* inStore(noteUse(sql, row, now))
        const host = request.headers["host"] ?? "localhost"
        return yield* httpEffect.pipe(
          Effect.provideService(Caller, { account: row.account, accessLevels: levels }),
          Effect.provideService(PublicAddress, `${request.protocol ?? "http"}://${host}/v4`)
        )
      })
    })
  )
)
