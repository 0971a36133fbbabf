/**
 * Writing the record that `CredentialAudit` reads. What was done is written in the transaction that does it; what was
 * refused is written beside the answer, and never in its way.
 */
import { AccessDenied, ExceedsGrantor, InvalidInput, ServiceError } from "@roster/domain"
import { Cause, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type AuditActor, AuditDetails } from "./AuditEntry.ts"
import type { CallerIdentity } from "./Caller.ts"
import { withoutSecrets } from "./Secret.ts"
import { nowSeconds } from "../store/Timestamps.ts"

export interface AuditEvent {
  readonly actor: AuditActor
  readonly peer: string | undefined
  readonly account: string
  readonly operation: string
  readonly subject?: string | undefined
  readonly details?: AuditDetails | undefined
}

/**
 * The most refusals of one actor that are written in an hour, so that nobody can fill the disk by asking. All who have no
 * key count as one: they can have as many addresses as they like.
 */
const refusalsPerHour = 1000

const hour = 60 * 60

/** A name may be as long as an address is; what was asked for need not be one. */
const longestSubject = 254

/** How long a refusal may wait to be written, and the use of a key to be noted. */
const patience = "1 second"

export const actorOf = ({ key }: CallerIdentity): AuditActor =>
  key === undefined ? { _tag: "Owner" } : { _tag: "Key", name: key.name, hint: key.hint }

interface Refused {
  readonly _tag: string
}

/** What a refusal is called in the record. */
export const refusalTag = (error: Refused): string => (error instanceof ServiceError ? error.reason._tag : error._tag)

/** What the record says of a refusal: what was missing, or which field went too far or was wrong. */
export const refusalDetails = (error: Refused): AuditDetails => {
  const reason = error instanceof ServiceError ? error.reason : error
  if (reason instanceof AccessDenied) return { required: reason.required }
  return reason instanceof ExceedsGrantor || reason instanceof InvalidInput ? { field: reason.field } : {}
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

/** Writes what was done, in the transaction of its caller. */
export const recordDone = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, event: AuditEvent) {
  yield* insert(sql, event, "Done", yield* nowSeconds)
})

/** Writes what was refused, by the tag of the refusal. */
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
  }).pipe(unhindered("a refusal could not be recorded"))

/**
 * Lets a request go on whatever becomes of a note about it: a full disk must not end reading, nor a lock make it wait.
 */
export const unhindered =
  (what: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
    effect.pipe(
      Effect.timeout(patience),
      Effect.asVoid,
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.interrupt
          : Effect.andThen(Effect.logWarning(what), Effect.logDebug(cause))
      )
    )
