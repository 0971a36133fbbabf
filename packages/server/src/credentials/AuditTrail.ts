/** Writes the audit trail: changes in their own transaction, refusals on a best-effort basis. */
import { AccessDenied, ExceedsGrantor, InvalidInput, ServiceError } from "@roster/domain"
import { Cause, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { nowSeconds } from "../store/Timestamps.ts"
import { type AuditActor, AuditDetails } from "./AuditEntry.ts"
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

/** Recorded refusals per actor and hour, so that requests cannot fill the disk. Callers without a key are one actor. */
const refusalsPerHour = 1000

const hour = 60 * 60

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
  const details: AuditDetails = hasField ? { field: reason.field } : {}
  return { outcome: reason._tag, details: reason instanceof AccessDenied ? { required: reason.required } : details }
}

const encodeDetails = Schema.encodeSync(Schema.fromJsonString(AuditDetails))

const subjectOf = (name: string): string => withoutSecrets(name).slice(0, longestSubject).toWellFormed()

const columnsOf = (actor: AuditActor) => ({
  actor: actor._tag,
  actor_name: actor._tag === "Key" ? actor.name : "",
  actor_hint: actor._tag === "Key" ? actor.hint : ""
})

const insert = (sql: SqlClient.SqlClient, event: AuditEvent, outcome: string, time: number) =>
  sql`INSERT INTO audit_entries ${sql.insert({
    time,
    account: event.account,
    ...columnsOf(event.actor),
    peer: event.peer ?? null,
    operation: event.operation,
    subject: event.subject === undefined ? null : subjectOf(event.subject),
    outcome,
    details: encodeDetails(event.details ?? {})
  })}`

/** Records a change, in the transaction of its caller. */
export const recordDone = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, event: AuditEvent) {
  yield* insert(sql, event, "Done", yield* nowSeconds)
})

/** Records a refusal by its tag. */
export const recordRefusal = (sql: SqlClient.SqlClient, event: AuditEvent, outcome: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const now = yield* nowSeconds
    const { actor, actor_hint, actor_name } = columnsOf(event.actor)
    const [written] = yield* sql<{ readonly count: number }>`
      SELECT count(*) AS count FROM audit_entries
      WHERE actor = ${actor} AND actor_name = ${actor_name} AND actor_hint = ${actor_hint}
        AND outcome <> 'Done' AND time >= ${now - (now % hour)}`
    const count = Number(written?.count ?? 0)
    if (count > refusalsPerHour) return
    yield* insert(sql, event, count === refusalsPerHour ? "FurtherRefusals" : outcome, now)
  }).pipe(bestEffort("a refusal could not be recorded"))

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
