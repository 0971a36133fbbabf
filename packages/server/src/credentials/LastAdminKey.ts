/**
 * The keys that keys are managed with. Over the network the last one of the main account cannot be given up, since nobody
 * could make another; whoever can open the store file can, and so may do what he likes.
 */
import { type AccessLevel, LastManagingKey } from "@roster/domain"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { CallerIdentity } from "./Caller.ts"
import type { Bounds } from "./CredentialScope.ts"
import { accessLevelsOf, type CredentialRow } from "./CredentialRow.ts"
import { isInRanges } from "../network/IpRanges.ts"
import { nowSeconds } from "../store/Timestamps.ts"

/** The access level that makes, changes and deletes credentials. */
export const managingLevel: AccessLevel = "ModifyAccessTokens"

/** Whether a key manages for as long as it did, and still from where its caller is. */
const staysAble = (row: CredentialRow, next: Bounds, { peer }: CallerIdentity): boolean =>
  next.levels.includes(managingLevel) &&
  (next.expires === null || (row.expires !== null && next.expires >= row.expires)) &&
  (next.ranges.length === 0 || isInRanges(peer ?? "", next.ranges))

/**
 * Refuses to change a key into what it is to become, or to delete it where that is `undefined`, if no other key of the
 * account could manage keys then. Runs in the transaction of the change.
 */
export const requireAdminKey = (sql: SqlClient.SqlClient) => {
  const locked = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE", orElse: () => "" }))
  return (
    caller: CallerIdentity,
    row: CredentialRow,
    next: Bounds | undefined
  ): Effect.Effect<void, LastManagingKey | SqlError.SqlError> =>
    Effect.gen(function* () {
      if (caller.key === undefined || row.account !== "") return
      if (next !== undefined && staysAble(row, next, caller)) return
      const good = yield* sql<CredentialRow>`
        SELECT * FROM credentials
        WHERE account = '' AND kind = 'ApiKey' AND (expires IS NULL OR expires > ${yield* nowSeconds}) ${locked}`
      const managing = good.filter((key) => accessLevelsOf(key).includes(managingLevel))
      if (managing.length === 1 && managing[0]?.id === row.id) return yield* new LastManagingKey({ name: row.name })
    })
}
