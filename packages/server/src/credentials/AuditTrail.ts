/** The entries of the audit trail: changes are recorded in their own transaction, refusals by `AuditRefusals`. */
import { AccessDenied, ExceedsGrantor, InvalidInput, ServiceError, type AuditActor, AuditDetails } from "@roster/domain"
import { wireField } from "@roster/domain/internal"
import { Cause, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { storeClock } from "../store/StoreClock.ts"
import type { CallerIdentity } from "./Caller.ts"
import { withoutSecrets } from "./Secret.ts"

export interface AuditEvent {
  readonly actor: AuditActor
  readonly peer: string | undefined
  readonly account: string
  readonly operation: string
  readonly subject?: string | undefined
  readonly details?: AuditDetails | undefined
}

/** Names are at most as long as an e-mail address, but a request can ask for anything. */
const longestSubject = 254

const bestEffortTimeout = "1 second"

/** An event of a caller, in its own account. */
export const eventOf = ({ account, key, peer }: CallerIdentity, operation: string): AuditEvent => ({
  actor: key === undefined ? { _tag: "Owner" } : { _tag: "Key", name: key.name, hint: key.hint },
  account,
  peer,
  operation
})

/** How the audit trail names a refusal, with its details: the missing level, or the field that was invalid or too wide. */
export const refusalOf = (error: { readonly _tag: string }) => {
  const reason = error instanceof ServiceError ? error.reason : error
  const hasField = reason instanceof ExceedsGrantor || reason instanceof InvalidInput
  const details: AuditDetails = hasField ? { field: wireField(reason.field) } : {}
  return { outcome: reason._tag, details: reason instanceof AccessDenied ? { required: reason.required } : details }
}

const encodeDetails = Schema.encodeSync(Schema.fromJsonString(AuditDetails))

/** PostgreSQL has no NUL in its texts, and SQLite no broken characters. */
const subjectOf = (name: string): string =>
  withoutSecrets(name).slice(0, longestSubject).toWellFormed().replaceAll("\0", "\ufffd")

/** An entry as a row of its table, which gives it a number. */
export const auditRow = (
  { account, actor, details, operation, peer, subject }: AuditEvent,
  outcome: string,
  time: number
) => ({
  time,
  account,
  actor: actor._tag,
  actor_name: actor._tag === "Key" ? actor.name : "",
  actor_hint: actor._tag === "Key" ? actor.hint : "",
  peer: peer ?? null,
  operation,
  subject: subject === undefined ? null : subjectOf(subject),
  outcome,
  details: encodeDetails(details ?? {})
})
export type AuditRow = ReturnType<typeof auditRow>

/** Records a change, in the transaction of its caller. */
export const recordDone = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, event: AuditEvent) {
  yield* sql`INSERT INTO audit_entries ${sql.insert(auditRow(event, "Done", yield* storeClock(sql).seconds))}`
})

/** Runs a write whose failure must not fail the request: a full disk must not prevent reading, nor a lock delay it. */
export const bestEffort =
  (warning: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
    effect.pipe(
      Effect.timeout(bestEffortTimeout),
      Effect.asVoid,
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.interrupt
          : Effect.andThen(Effect.logWarning(warning), Effect.logDebug(cause))
      )
    )
