/**
 * Waiting for an export, with a schedule that can be handed in. It looks once at once; a status that is not known does not
 * end it; looks that fail are tolerated for a while; stopping it ends the looking, not the export. It resumes in another
 * process from the id alone.
 */
import { Clock, Duration, Effect, Option, Schedule, Stream } from "effect"
import {
  ContactsService,
  ExportExpired,
  ExportFailed,
  type ExportId,
  ExportInterrupted,
  type ExportNotFound,
  type ExportStatus,
  ExportTimedOut,
  fnRedacted,
  LookAgain,
  type ServiceError
} from "@roster/domain"

/** How long to wait between looks: one second, half as long again each time up to 15, a fifth more or less. */
export const exportPolling: Schedule.Schedule<unknown> = Schedule.min([
  Schedule.exponential("1 second", 1.5),
  Schedule.spaced("15 seconds")
]).pipe(Schedule.jittered)

export interface ExportWaitOptions {
  readonly schedule?: Schedule.Schedule<unknown> | undefined
  /** How long to look in all: 30 minutes. */
  readonly limit?: Duration.Input | undefined
}

/** What a service may ask for between two looks. */
const shortestHint = { minimum: Duration.millis(250), maximum: Duration.minutes(1) }

/** Looks that may fail in a row before the wait is given up. */
const toleratedFailures = 5

/** A service may not know a new export at once: how often that is overlooked, and for how long. */
const toleratedAbsences = 2
const absencesFor = Duration.seconds(10)

/** One look, whatever came of it. */
export type ExportLook =
  | { readonly _tag: "Status"; readonly status: ExportStatus }
  | { readonly _tag: "Unanswered"; readonly error: ServiceError }

const isOver = (look: ExportLook): boolean =>
  look._tag === "Status" && (look.status === "Ready" || look.status === "Error" || look.status === "Expired")

/**
 * The looks at an export until it is over, for whoever shows progress. Ends with the look that is final, or fails with
 * `ExportInterrupted` where too many looks in a row had no answer, and with `ExportNotFound` where there is no such export.
 */
export const watchExport = (
  id: ExportId,
  schedule: Schedule.Schedule<unknown> = exportPolling
): Stream.Stream<ExportLook, ExportNotFound | ExportInterrupted | ServiceError, ContactsService> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const start = yield* Clock.monotonicTimeNanos
      const elapsed = Effect.map(Clock.monotonicTimeNanos, (now) => Duration.nanos(now - start))
      let failures = 0
      let absences = 0
      const hint: { after: Duration.Duration | undefined } = { after: undefined }
      const look: Effect.Effect<ExportLook, ExportNotFound | ExportInterrupted | ServiceError> = contacts
        .exportStatus(id)
        .pipe(
          Effect.map((status): ExportLook => {
            failures = 0
            return { _tag: "Status", status }
          }),
          Effect.catchTags({
            ExportNotFound: Effect.fnUntraced(function* (error) {
              absences++
              if (absences > toleratedAbsences || Duration.isGreaterThan(yield* elapsed, absencesFor))
                return yield* error
              return { _tag: "Status", status: "Loading" } satisfies ExportLook
            }),
            ServiceError: Effect.fnUntraced(function* (error) {
              if (!isPassing(error)) return yield* error
              const told = "retryAfter" in error.reason ? error.reason.retryAfter : undefined
              if (told !== undefined) hint.after = Duration.seconds(told)
              // Nobody looks earlier than the service asks for: whoever waits may come back.
              const isTooLong = told !== undefined && told > Duration.toSeconds(shortestHint.maximum)
              failures++
              if (isTooLong || failures > toleratedFailures)
                return yield* new ExportInterrupted({ id, reason: error.reason.message })
              return { _tag: "Unanswered", error } satisfies ExportLook
            })
          })
        )
      // The word of the service wins, within reason.
      const told = Schedule.modifyDelay(schedule, ({ duration }) =>
        Effect.succeed(hint.after === undefined ? duration : Duration.clamp(hint.after, shortestHint))
      )
      const listening = Effect.suspend(() => {
        hint.after = undefined
        return Effect.provideService(look, LookAgain, hint)
      })
      return Stream.fromEffectSchedule(listening, told).pipe(Stream.takeUntil(isOver))
    })
  )

/** A bad key stays bad; a service that is away comes back. */
const isPassing = ({ reason: { _tag } }: ServiceError): boolean => _tag !== "Unauthorized" && _tag !== "AccessDenied"

/**
 * Waits until the export is ready. Fails with `ExportFailed` or `ExportExpired` where the service says so, with
 * `ExportTimedOut` where it was still not over when the time was up, and with `ExportInterrupted` where the service did
 * not answer for too long: the export itself goes on, and so can the wait.
 */
export const awaitExport = fnRedacted("awaitExport")(function* (id: ExportId, options: ExportWaitOptions = {}) {
  let lastStatus: ExportStatus = "Loading"
  const remember = (look: ExportLook) =>
    Effect.sync(() => {
      if (look._tag === "Status") lastStatus = look.status
    })
  yield* watchExport(id, options.schedule).pipe(
    Stream.tap(remember),
    Stream.runDrain,
    Effect.timeoutOption(options.limit ?? "30 minutes"),
    Effect.map(Option.getOrUndefined)
  )
  // The assignments happen in the stream, where the compiler does not look.
  const status = lastStatus as ExportStatus
  if (status === "Error") return yield* new ExportFailed({ id })
  if (status === "Expired") return yield* new ExportExpired({ id })
  if (status !== "Ready") return yield* new ExportTimedOut({ id, lastStatus: status })
})
