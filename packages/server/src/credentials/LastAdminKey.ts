import { type AccessLevel, LastManagingKey } from "@roster/domain"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isInRanges } from "../network/IpRanges.ts"
import { nowSeconds } from "../store/Timestamps.ts"
import type { CallerIdentity } from "./Caller.ts"
import { accessLevelsOf, type CredentialRow, type CredentialScope } from "./CredentialRow.ts"

/** The access level that creates, changes and deletes credentials. */
export const managingLevel: AccessLevel = "ModifyAccessTokens"

/** Whether a key can manage keys for as long as before, and from the caller's address. */
const canStillManage = (row: CredentialRow, next: CredentialScope, { peer }: CallerIdentity): boolean =>
  next.levels.includes(managingLevel) &&
  (next.expires === null || (row.expires !== null && next.expires >= row.expires)) &&
  (next.ranges.length === 0 || isInRanges(peer ?? "", next.ranges))

/**
 * Refuses a change of a key, or its deletion (no `next`), after which no key of the account could manage keys. The
 * owner of the store is not restricted. Runs in the transaction of the change.
 */
export const requireAdminKey = (sql: SqlClient.SqlClient) => {
  const locked = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE", orElse: () => "" }))
  return (
    caller: CallerIdentity,
    row: CredentialRow,
    next: CredentialScope | undefined
  ): Effect.Effect<void, LastManagingKey | SqlError.SqlError> =>
    Effect.gen(function* () {
      if (caller.key === undefined || row.account !== "") return
      if (next !== undefined && canStillManage(row, next, caller)) return
      const valid = yield* sql<CredentialRow>`
        SELECT * FROM credentials
        WHERE account = '' AND kind = 'ApiKey' AND (expires IS NULL OR expires > ${yield* nowSeconds}) ${locked}`
      const managing = valid.filter((key) => accessLevelsOf(key).includes(managingLevel))
      if (managing.length === 1 && managing[0]?.id === row.id) return yield* new LastManagingKey({ name: row.name })
    })
}
