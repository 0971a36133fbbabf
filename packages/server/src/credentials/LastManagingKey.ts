import { type AccessLevel, LastManagingKey } from "@roster/domain"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isInRanges } from "../network/IpRanges.ts"
import { nowSeconds } from "../store/Timestamps.ts"
import type { CallerIdentity } from "./Caller.ts"
import { accessLevelsOf, type CredentialRow, type CredentialScope, scopeOf } from "./CredentialRow.ts"

/** The access level that creates, changes and deletes credentials. */
export const managingLevel: AccessLevel = "ModifyAccessTokens"

/** Whether a key can manage keys for as long as another one, and from the caller's address. */
const canReplace = (row: CredentialRow, scope: CredentialScope, { peer }: CallerIdentity): boolean =>
  scope.levels.includes(managingLevel) &&
  (scope.expires === null || (row.expires !== null && scope.expires >= row.expires)) &&
  (scope.ranges.length === 0 || isInRanges(peer ?? "", scope.ranges))

/**
 * Refuses a change of a key, or its deletion (no `next`), after which no key of the account could manage keys for as
 * long and from the caller's address. The owner of the store is not restricted. Runs in the serializable
 * transaction of the change.
 */
export const requireManagingKey =
  (sql: SqlClient.SqlClient) =>
  (
    caller: CallerIdentity,
    row: CredentialRow,
    next: CredentialScope | undefined
  ): Effect.Effect<void, LastManagingKey | SqlError.SqlError> =>
    Effect.gen(function* () {
      if (caller.key === undefined || row.account !== "") return
      if (!accessLevelsOf(row).includes(managingLevel)) return
      if (next !== undefined && canReplace(row, next, caller)) return
      const valid = yield* sql<CredentialRow>`
        SELECT * FROM credentials
        WHERE account = '' AND kind = 'ApiKey' AND (expires IS NULL OR expires > ${yield* nowSeconds})`
      const isValid = valid.some((key) => key.id === row.id)
      const isReplaced = valid.some((key) => key.id !== row.id && canReplace(row, scopeOf(key), caller))
      if (isValid && !isReplaced) return yield* new LastManagingKey({ name: row.name })
    })
