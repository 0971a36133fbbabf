/**
 * Waits until a credential is no longer used. The last use comes from the service and is only compared with other times of
 * the service, never with this machine's clock.
 */
import { Clock, DateTime, Duration, Effect, Option, type Schedule } from "effect"
import { CredentialNotFound, type InvalidInput, type ServiceError } from "@roster/domain"
import { StillInUse } from "./RotationOptions.ts"
import { type Credential, RotationStep } from "./RotationPlan.ts"

/** A refused key stays refused, while a service that is down comes back. */
const isTransient = (error: ServiceError | InvalidInput): error is ServiceError =>
  error._tag === "ServiceError" && error.reason._tag !== "Unauthorized" && error.reason._tag !== "AccessDenied"

/**
 * Ends when the last use has not moved for the quiet span, or when the old credential is gone. It checks once more at the
 * end of the grace, when a credential that was never used may go however long the quiet span is. Fails with `StillInUse` if
 * the old credential was used and is not quiet by then, with the service's error if the last check has no answer, and with
 * `CredentialNotFound` if the successor is gone, so that the old one is kept.
 */
export const awaitUnused = Effect.fnUntraced(function* (options: {
  readonly name: string
  readonly successor: string
  readonly look: Effect.Effect<
    { readonly old: Credential | undefined; readonly successor: Credential | undefined },
    ServiceError | InvalidInput
  >
  readonly quiet: Duration.Duration
  readonly grace: Duration.Duration
  readonly schedule: Schedule.Schedule<unknown>
  readonly onStep: (step: RotationStep) => Effect.Effect<void>
}) {
  const { name, onStep, successor } = options
  const seen: {
    lastUse?: DateTime.Utc | null
    movedAt: number
    /** The error of the last check, if it had no answer. */
    error?: ServiceError | undefined
    /** The service asked not to be called before this time of the local clock, in milliseconds. */
    notBefore: number
  } = { movedAt: 0, notBefore: 0 }

  const isUnused = Effect.gen(function* () {
    const asked = yield* Clock.currentTimeMillis
    if (asked < seen.notBefore) return false
    const found = yield* options.look.pipe(
      Effect.catchIf(isTransient, (error) => {
        seen.error = error
        if ("retryAfter" in error.reason) seen.notBefore = asked + (error.reason.retryAfter ?? 0) * 1000
        return Effect.as(onStep(RotationStep.Unanswered({ message: error.message })), undefined)
      })
    )
    if (found === undefined) return false
    seen.error = undefined
    if (found.successor === undefined) return yield* new CredentialNotFound({ name: successor })
    if (found.old === undefined) return true
    const now = yield* Clock.currentTimeMillis
    const last = seen.lastUse
    const next = found.old.lastUse ?? null
    if (last === undefined) {
      yield* onStep(RotationStep.Waiting({ name, lastUse: next }))
    } else if (next === null || (last !== null && DateTime.Equivalence(last, next))) {
      return now - seen.movedAt >= Duration.toMillis(options.quiet)
    } else {
      yield* onStep(RotationStep.StillUsed({ name, lastUse: next }))
    }
    seen.lastUse = next
    seen.movedAt = now
    return false
  })

  const inTime = yield* isUnused.pipe(
    Effect.repeat({ schedule: options.schedule, until: (unused) => unused }),
    Effect.timeoutOption(options.grace)
  )
  if (Option.contains(inTime, true) || (yield* isUnused)) return
  if (seen.error !== undefined) return yield* seen.error
  if (seen.lastUse != null) return yield* new StillInUse({ name, successor, lastUse: seen.lastUse })
})
