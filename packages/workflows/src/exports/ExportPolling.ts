/** The wait for an export, which polls its status and survives a few failed polls. */
import { Clock, Duration, Effect, Schedule } from "effect"
import {
  ContactsService,
  ExportExpired,
  ExportFailed,
  ExportId,
  ExportPollingFailed,
  type ExportNotFound,
  type ExportStatus,
  ExportTimedOut,
  type ServiceError,
  sometimes
} from "@roster/domain"
import { fnRedacted, PollHint, KnownFields } from "@roster/domain/internal"

/** The default schedule: one second, then half as long again each time up to 15 s, with a jitter of a fifth. */
export const exportPolling: Schedule.Schedule<unknown> = Schedule.min([
  Schedule.exponential("1 second", 1.5),
  Schedule.spaced("15 seconds")
]).pipe(Schedule.jittered)

/** How `awaitExport` polls. */
export interface ExportWaitOptions {
  /** The waits between polls (default: `exportPolling`). */
  readonly schedule?: Schedule.Schedule<unknown> | undefined
  /** How long to poll in all (default: 30 minutes). */
  readonly limit?: Duration.Input | undefined
}

/** Its fields. */
export const waitFields: KnownFields.Names<ExportWaitOptions> = { schedule: true, limit: true }

const optionFields = KnownFields.fieldsOf<ExportWaitOptions>("a wait", waitFields)

/** The range of waits that a service may ask for with a status. */
const hintLimits = { minimum: Duration.millis(250), maximum: Duration.minutes(1) }

/** The number of polls that may fail in a row. */
const toleratedFailures = 5

/** A service may not know a new export at once: how often and how long that is tolerated. */
const toleratedAbsences = 2
const absencesFor = Duration.seconds(10)

/**
 * Waits until an export is ready by polling its status, at once and then by a schedule. A few failed polls are
 * tolerated, and one that the service puts off with a Retry-After is repeated when it says, if that is within the limit.
 * Interrupting the wait does not stop the export, and another process can wait for it by its id alone.
 *
 * Fails with `ExportFailed` or `ExportExpired` if the service says so. After `ExportTimedOut` or `ExportPollingFailed`
 * the export may still be running, and the wait can be repeated.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { awaitExport } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const { id } = yield* (yield* ContactsService).export({ fileFormat: "Json" })
 *   yield* awaitExport(id, { limit: "5 minutes" })
 * })
 * ```
 */
export const awaitExport = fnRedacted("awaitExport")(function* (text: string, options: ExportWaitOptions = {}) {
  yield* KnownFields.checkFields(optionFields, options)
  const id = yield* ExportId.fromText(text)
  const contacts = yield* ContactsService
  const limit = Duration.fromInputUnsafe(options.limit ?? "30 minutes")
  const start = yield* Clock.monotonicTimeNanos
  const elapsed = Effect.map(Clock.monotonicTimeNanos, (now) => Duration.nanos(now - start))
  let failures = 0
  let absences = 0
  const seen: { status: ExportStatus; hint: Duration.Duration | undefined } = { status: "Loading", hint: undefined }

  const onAbsence = Effect.fnUntraced(function* (error: ExportNotFound) {
    absences++
    if (absences > toleratedAbsences || Duration.isGreaterThan(yield* elapsed, absencesFor)) return yield* error
    seen.status = "Loading"
  })
  const onFailure = Effect.fnUntraced(function* (error: ServiceError) {
    if (!error.isTransient) return yield* error
    yield* sometimes("the status of an export is not told")
    const { retryAfter } = error
    // A poll that was put off has not failed.
    if (retryAfter === undefined) failures++
    else seen.hint = Duration.max(retryAfter, hintLimits.minimum)
    const left = Duration.subtract(limit, yield* elapsed)
    const isTooLong = retryAfter !== undefined && Duration.isGreaterThan(retryAfter, left)
    if (isTooLong || failures > toleratedFailures) {
      return yield* new ExportPollingFailed({ id, reason: error.reason.message })
    }
  })
  const poll = Effect.suspend(() => {
    seen.hint = undefined
    return contacts.exportStatus(id).pipe(
      Effect.provideService(PollHint, (wait) => {
        seen.hint = Duration.clamp(wait, hintLimits)
      }),
      Effect.map((status) => {
        failures = 0
        seen.status = status
      }),
      Effect.catchTags({ ExportNotFound: onAbsence, ServiceError: onFailure })
    )
  })
  const isOver = () => seen.status === "Ready" || seen.status === "Error" || seen.status === "Expired"
  const schedule = Schedule.modifyDelay(options.schedule ?? exportPolling, ({ duration }) =>
    Effect.succeed(seen.hint ?? duration)
  )
  yield* poll.pipe(Effect.repeat({ schedule, until: isOver }), Effect.timeoutOption(limit))

  const { status } = seen
  if (status === "Error") return yield* new ExportFailed({ id })
  if (status === "Expired") return yield* new ExportExpired({ id })
  if (status !== "Ready") return yield* new ExportTimedOut({ id, lastStatus: status })
})
