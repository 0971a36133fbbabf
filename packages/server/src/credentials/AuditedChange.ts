/** Changes of credentials: authorised, made and recorded in one transaction. */
import { EmailAddress, canonicalEmail, RateLimited, ServiceError, Unavailable, type AuditDetails } from "@roster/domain"
import { invalidInput } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { type SqlClient, SqlError, type Statement } from "effect/sql"
import { encoded } from "../store/AnswerEncoding.ts"
import { dialect } from "../store/SqlDialect.ts"
import { inAtomicTransaction } from "../store/sqlite/GroupCommit.ts"
import { storeClock } from "../store/StoreClock.ts"
import type { AuditRefusals } from "./AuditRefusals.ts"
import { eventOf, recordDone, refusalOf } from "./AuditTrail.ts"
import { Caller, type CallerIdentity } from "./Caller.ts"
import { checkCaller } from "./CallerCheck.ts"
import { findCredentials, type StoredSettings, violationOf } from "./CredentialRow.ts"
import { managingLevel } from "./LastManagingKey.ts"

/** Changes of credentials per hour, of one account and of all: each adds an entry to the audit trail. (docs/limits.md) */
const changesOfAccount = 1000
const changesOfAll = 10_000

const hour = 60 * 60

export interface Change {
  readonly operation: string
  readonly caller: CallerIdentity
  /** The account whose credentials change; `undefined` if it is hidden from the caller. */
  readonly account: string | undefined
  /** What the caller's key may do; `undefined` for the owner, who has no limit. */
  readonly within: StoredSettings | undefined
}

const checkSubaccount = Schema.decodeUnknownEffect(EmailAddress)

/** The account that a call refers to; `undefined` if a subaccount asks for another than its own. */
export const accountOf = Effect.fnUntraced(function* ({ account }: CallerIdentity, subaccount: string | undefined) {
  if (subaccount === undefined) return account
  yield* Effect.mapError(checkSubaccount(subaccount), (error) => invalidInput(error, "subaccount"))
  const asked = canonicalEmail(subaccount)
  return account === "" || account === asked ? asked : undefined
})

export const refuse = (operation: string, reason: ServiceError["reason"]) => new ServiceError({ operation, reason })

/** What the caller's key may do now; `undefined` for the owner. */
const grantor = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, operation: string, { key }: CallerIdentity) {
  yield* checkCaller(sql, operation, managingLevel)
  return key === undefined ? undefined : (yield* findCredentials(sql, sql`id = ${key.id}`))[0]
})

/** Refuses a change of a credential that exceeds the caller's key, as it is now or as it would be. */
export const checkWithin = ({ operation, within }: Change, ...all: ReadonlyArray<StoredSettings>) => {
  if (within === undefined) return Effect.void
  const violation = all.map((one) => violationOf(one, within)).find((found) => found !== undefined)
  return violation === undefined ? Effect.void : Effect.fail(refuse(operation, violation))
}

/**
 * Refuses a change while the last hour has as many as it may. Subaccounts leave the main account a share of its own, in the
 * changes of each of them and of all. Outside of the transaction, since most of it is reading.
 */
const checkRate = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  operation: string,
  caller: CallerIdentity,
  account: string
) {
  const share = caller.account === "" ? changesOfAccount : 0
  const mostOfAll = changesOfAll + share
  const mostOfAccount = changesOfAccount + (account === caller.account ? 0 : share)
  const now = yield* storeClock(sql).seconds
  /** How long the last hour has so many changes, in seconds; 0 if it has fewer. */
  const secondsOf = (changes: number, of: Statement.Fragment) =>
    Effect.map(
      sql<{ readonly time: number }>`
        SELECT time FROM audit_entries
        WHERE outcome = 'Done' AND time > ${now - hour} AND time <= ${now} AND ${of}
        ORDER BY time DESC LIMIT 1 OFFSET ${changes - 1}`,
      ([first]) => (first === undefined ? 0 : Number(first.time) + hour - now)
    )
  const ofAll = yield* secondsOf(mostOfAll, sql`1 = 1`)
  if (ofAll > 0) {
    const detail = `the credentials of all accounts were changed ${mostOfAll} times within an hour`
    return yield* refuse(operation, new Unavailable({ detail, retryAfter: ofAll }))
  }
  const ofAccount = yield* secondsOf(mostOfAccount, sql`account = ${account}`)
  if (ofAccount > 0) {
    const detail =
      `its API keys and SMTP credentials were changed ${mostOfAccount} times within an hour. They can still ` +
      "be deleted."
    return yield* refuse(operation, new RateLimited({ detail, retryAfter: ofAccount }))
  }
})

/**
 * Authorises, makes and records a change of a credential in one transaction, or records its refusal. Only a deletion is
 * never too much: no key that makes changes may keep others from taking it away.
 */
export const auditedChange = (sql: SqlClient.SqlClient, refusals: AuditRefusals["Service"]) =>
  Effect.fnUntraced(function* <A, E extends { readonly _tag: string }>(
    operation: string,
    name: string,
    subaccount: string | undefined,
    run: (change: Change) => Effect.Effect<readonly [answer: A, details: AuditDetails], E | SqlError.SqlError>,
    isDeletion = false
  ) {
    const caller = yield* Caller
    const event = { ...eventOf(caller, operation), subject: String(name) }
    const refused = (account: string) => (error: { readonly _tag: string }) => {
      const { details, outcome } = refusalOf(error)
      return SqlError.isSqlError(error) ? Effect.void : refusals.record({ ...event, account, details }, outcome)
    }
    const account = yield* Effect.tapError(accountOf(caller, subaccount), refused(caller.account))
    const recordedAccount = account ?? caller.account
    const changed = Effect.gen(function* () {
      yield* dialect(sql).lockAccounts([caller.account, recordedAccount])
      const within = yield* grantor(sql, operation, caller)
      const [answer, details] = yield* run({ operation, caller, account, within })
      yield* recordDone(sql, { ...event, account: recordedAccount, details })
      return yield* encoded(answer)
    })
    const rate = isDeletion ? Effect.void : checkRate(sql, operation, caller, recordedAccount)
    return yield* Effect.tapError(Effect.andThen(rate, inAtomicTransaction(sql, changed)), refused(recordedAccount))
  })
