/** Keeps the last key of an account that can manage keys from being changed or deleted. */
import { type AccessLevel, LastManagingKey } from "@roster/domain"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isInRanges } from "../network/IpRanges.ts"
import { storeClock, toSeconds } from "../store/StoreClock.ts"
import type { CallerIdentity } from "./Caller.ts"
import { type CredentialRow, findCredentials, type StoredSettings } from "./CredentialRow.ts"

/** The access level that creates, changes and deletes credentials. */
export const managingLevel: AccessLevel = "ModifyAccessTokens"

/** Whether a key can manage keys for as long as another one, and from the caller's address. */
const canReplace = (row: StoredSettings, next: StoredSettings, { peer }: CallerIdentity): boolean =>
  next.accessLevels.includes(managingLevel) &&
  (next.expires === null || (row.expires !== null && toSeconds(next.expires) >= toSeconds(row.expires))) &&
  (next.ipRanges.length === 0 || isInRanges(peer ?? "", next.ipRanges))

/**
 * Refuses a change of a key, or its deletion (no `next`), after which no key of the account could manage keys for as
 * long and from the caller's address. The owner of the store is not restricted. Runs in the
 * transaction of the change, which has locked the account.
 */
export const requireManagingKey =
  (sql: SqlClient.SqlClient) =>
  (
    caller: CallerIdentity,
    row: CredentialRow,
    next: StoredSettings | undefined
  ): Effect.Effect<void, LastManagingKey | SqlError.SqlError> =>
    Effect.gen(function* () {
      if (caller.key === undefined || row.account !== "") return
      if (!row.accessLevels.includes(managingLevel)) return
      if (next !== undefined && canReplace(row, next, caller)) return
      const valid = yield* findCredentials(
        sql,
        sql`account = '' AND kind = 'ApiKey' AND (expires IS NULL OR expires > ${yield* storeClock(sql).inSql})`
      )
      const isValid = valid.some((key) => key.id === row.id)
      const isReplaced = valid.some((key) => key.id !== row.id && canReplace(row, key, caller))
      if (isValid && !isReplaced) return yield* new LastManagingKey({ name: row.name })
    })
