/**
 * Waiting until a credential is no longer used, by its last use as the service has it. Times of the service are compared with
 * one another alone, never with this machine's clock.
 */
import { Clock, DateTime, Duration, Effect, Option, type Schedule, Stream } from "effect"
import { CredentialNotFound, type InvalidInput, type ServiceError } from "@roster/domain"
import { StillInUse } from "./RotationError.ts"
import { RotationStep } from "./RotationStep.ts"

interface Used {
  readonly lastUse?: DateTime.Utc | null
}

/** A bad key stays bad; a service that is away comes back. */
const isPassing = (error: ServiceError | InvalidInput): error is ServiceError =>
  error._tag === "ServiceError" && error.reason._tag !== "Unauthorized" && error.reason._tag !== "AccessDenied"

/**
 * Ends when the last use of the old one has not moved for the quiet span, or when it is gone. At the end of the grace it looks
 * once more: one that nobody has ever used is in nobody's way then, however long the quiet span. Fails with `StillInUse` where
 * one that was used is not quiet by then, with what the service said where it did not answer that look, and with
 * `CredentialNotFound` where the successor is gone: the old one must stay.
 */
export const awaitUnused = Effect.fnUntraced(function* (options: {
  readonly name: string
  readonly successor: string
  readonly look: Effect.Effect<
    { readonly old: Used | undefined; readonly successor: Used | undefined },
    ServiceError | InvalidInput
  >
  readonly quiet: Duration.Duration
  readonly grace: Duration.Duration
  readonly schedule: Schedule.Schedule<unknown>
  readonly onStep: (step: RotationStep) => Effect.Effect<void>
}) {
  const { name, onStep, successor } = options
  let lastUse: DateTime.Utc | null | undefined
  let movedAt = 0
  let unanswered: ServiceError | undefined
  /** Until when the service asks not to be looked at, by the clock. */
  let notBefore = 0
  const isOver = Effect.gen(function* () {
    const asked = yield* Clock.currentTimeMillis
    if (asked < notBefore) return false
    const found = yield* options.look.pipe(
      Effect.catchIf(isPassing, (error) => {
        unanswered = error
        if ("retryAfter" in error.reason) notBefore = asked + (error.reason.retryAfter ?? 0) * 1000
        return Effect.as(onStep(RotationStep.Unanswered({ message: error.message })), undefined)
      })
    )
    if (found === undefined) return false
    unanswered = undefined
    if (found.successor === undefined) return yield* new CredentialNotFound({ name: successor })
    if (found.old === undefined) return true
    const now = yield* Clock.currentTimeMillis
    const next = found.old.lastUse ?? null
    if (lastUse === undefined) {
      yield* onStep(RotationStep.Waiting({ name, lastUse: next }))
    } else if (next === null || (lastUse !== null && DateTime.Equivalence(lastUse, next))) {
      return now - movedAt >= Duration.toMillis(options.quiet)
    } else {
      yield* onStep(RotationStep.StillUsed({ name, lastUse: next }))
    }
    lastUse = next
    movedAt = now
    return false
  })
  const over = yield* Stream.fromEffectSchedule(isOver, options.schedule).pipe(
    Stream.takeUntil((over) => over),
    Stream.runLast,
    Effect.timeoutOption(options.grace),
    Effect.map(Option.flatten)
  )
  if (Option.getOrElse(over, () => false) || (yield* isOver)) return
  // The assignments happen in the look, where the compiler does not look.
  const silence = unanswered as ServiceError | undefined
  const last = lastUse as DateTime.Utc | null | undefined
  if (silence !== undefined) return yield* silence
  if (last != null) return yield* new StillInUse({ name, successor, lastUse: last })
})
