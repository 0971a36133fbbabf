/**
 * One change of a credential: by whom and how far he may go, decided, done and recorded in one transaction.
 */
import { AccessDenied, EmailAddress, canonicalEmail, invalidInput, ServiceError, Unauthorized } from "@roster/domain"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { AuditDetails } from "./AuditEntry.ts"
import { actorOf, recordDone, recordRefusal, refusalDetails, refusalTag } from "./AuditTrail.ts"
import { Caller, type CallerIdentity } from "./Caller.ts"
import { type Bounds, boundsOf, violationOf } from "./CredentialScope.ts"
import type { CredentialRow } from "./CredentialRow.ts"
import { managingLevel } from "./LastAdminKey.ts"
import { nowSeconds } from "../store/Timestamps.ts"

/** By whom, in whose credentials, and how far the caller's key goes, which for the owner is anywhere. */
export interface Change {
  readonly operation: string
  readonly caller: CallerIdentity
  readonly account: string | undefined
  readonly within: Bounds | undefined
}

const checkSubaccount = Schema.decodeUnknownEffect(EmailAddress)

/**
 * Whose credentials a call means. A subaccount sees its own; what it asks of another is as if that one did not exist.
 */
export const accountOf = Effect.fnUntraced(function* (
  { account }: CallerIdentity,
  subaccount: EmailAddress | undefined
) {
  if (subaccount === undefined) return account
  yield* Effect.mapError(checkSubaccount(subaccount), (error) => invalidInput(error, "subaccount"))
  const asked = canonicalEmail(subaccount)
  return account === "" || account === asked ? asked : undefined
})

export const refuse = (operation: string, reason: ServiceError["reason"]) => new ServiceError({ operation, reason })

/** How far the caller's key goes now: a request may have been waiting for its body since the key was found good. */
const grantor = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, operation: string, { key }: CallerIdentity) {
  if (key === undefined) return undefined
  const [row] = yield* sql<CredentialRow>`SELECT * FROM credentials WHERE id = ${key.id}`
  if (row === undefined || (row.expires !== null && row.expires <= (yield* nowSeconds))) {
    return yield* refuse(operation, new Unauthorized({}))
  }
  const bounds = boundsOf(row)
  if (bounds.levels.includes(managingLevel)) return bounds
  return yield* refuse(operation, new AccessDenied({ required: managingLevel }))
})

/** The result has to lie within the caller's key or, so that a stronger one can be narrowed, within what it was. */
export const checkBounds = ({ operation, within }: Change, next: Bounds, row?: CredentialRow) => {
  const excess = within === undefined ? undefined : violationOf(next, within)
  const isNarrowed = row !== undefined && violationOf(next, boundsOf(row)) === undefined
  return excess === undefined || isNarrowed ? Effect.void : Effect.fail(refuse(operation, excess))
}

/** Runs a change and writes its line of the record, or the line of its refusal. */
export const recordedChange = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* <A, E extends { readonly _tag: string }>(
    operation: string,
    name: string,
    subaccount: EmailAddress | undefined,
    run: (change: Change) => Effect.Effect<readonly [answer: A, details: AuditDetails], E | SqlError.SqlError>
  ) {
    const caller = yield* Caller
    const event = { actor: actorOf(caller), peer: caller.peer, operation, subject: String(name) }
    const refused = (account: string | undefined) => (error: { readonly _tag: string }) =>
      SqlError.isSqlError(error)
        ? Effect.void
        : recordRefusal(
            sql,
            { ...event, account: account ?? caller.account, details: refusalDetails(error) },
            refusalTag(error)
          )
    const account = yield* Effect.tapError(accountOf(caller, subaccount), refused(undefined))
    return yield* Effect.gen(function* () {
      const within = yield* grantor(sql, operation, caller)
      const [answer, details] = yield* run({ operation, caller, account, within })
      yield* recordDone(sql, { ...event, account: account ?? caller.account, details })
      return answer
    }).pipe(sql.withTransaction, Effect.tapError(refused(account)))
  })
