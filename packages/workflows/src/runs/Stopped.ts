/** How far a run came, and the failure of one that could not do its work. */
import type { ServiceError } from "@roster/domain"
import { Data, Effect } from "effect"
import type { RunReport } from "./RunReport.ts"

type Ends = Pick<RunReport, "notSent" | "unknown">

/** Whether every row of a run has an answer. */
export const isWhole = ({ notSent, unknown }: Ends): boolean => notSent + unknown === 0

/** A number as people read it. */
export const numberText = (count: number): string => count.toLocaleString("en-US")

/** A number of units as people read it. */
export const counted = (count: number, unit: string): string => `${numberText(count)} ${unit}${count === 1 ? "" : "s"}`

/** How far a run came, in a sentence: what is not done is named where there is any. `stoppedBy` is what stopped it. */
export const outcomeWords = (
  {
    done,
    duplicates,
    leftOut,
    notSent,
    outdated,
    read,
    rejected,
    unknown
  }: Ends &
    Pick<RunReport, "done" | "read"> &
    Partial<Pick<RunReport, "duplicates" | "leftOut" | "outdated" | "rejected">>,
  {
    stoppedBy,
    unit = "row"
  }: { readonly stoppedBy?: ServiceError | undefined; readonly unit?: string | undefined } = {}
): string => {
  // The rows of a request that was refused as a whole were sent, though the service kept none of them.
  const unsent =
    stoppedBy?.reason._tag === "Rejected" ? "not sent, or sent in a request that the service refused" : "not sent"
  const rest = [
    [rejected, "rejected"],
    [duplicates, duplicates === 1 ? "duplicate" : "duplicates"],
    [leftOut, "left out"],
    [outdated, "outdated"],
    [notSent, unsent],
    [unknown, "without an answer"]
  ] as const
  return (
    `${numberText(done)} of ${counted(read, unit)} ${done === 1 || read === 1 ? "is" : "are"} done` +
    `${rest.map(([count = 0, words]) => (count === 0 ? "" : `, ${numberText(count)} ${words}`)).join("")}.`
  )
}

/**
 * An error of the service, the key or the network stopped a program before all its rows had an answer. `report` has what was
 * done, and `cause` is the error.
 */
export class Stopped<Report extends RunReport = RunReport> extends Data.TaggedError("Stopped")<{
  readonly cause: ServiceError
  readonly message: string
}> {
  /** What the program did until then. Its `notSent` and `unknown` are what is left. */
  declare readonly report: Report

  constructor(given: { readonly report: Report; readonly cause: ServiceError; readonly unit?: string | undefined }) {
    const { cause, report, unit } = given
    const then = cause.isRetryable || cause.mayHaveHappened ? "Do it again" : "Mend that, and do it again"
    const done = outcomeWords(report, { stoppedBy: cause, unit })
    super({ cause, message: `${done} ${cause.message} ${then} for the rest: what is done stays done.` })
    // A report has addresses, which a log that prints the error must not have.
    Object.defineProperty(this, "report", { value: report, enumerable: false })
  }

  /** Why the service did not go on; `Effect.catchReason` selects by its tag. */
  get reason(): ServiceError["reason"] {
    return this.cause.reason
  }

  /** Whether the same call may succeed later. */
  get isRetryable(): boolean {
    return this.cause.isRetryable
  }
}

/** Fails with the report of what was done until an error. */
export const stoppedAt =
  <Report extends RunReport>(report: Report, unit?: string) =>
  (cause: ServiceError): Effect.Effect<never, Stopped<Report>> =>
    Effect.fail(new Stopped({ report, cause, unit }))

/** The report of a run, unless an error stopped it before all its rows had an answer. */
export const unlessStopped = <Report extends RunReport>(
  report: Report,
  cause: ServiceError | undefined
): Effect.Effect<Report, Stopped<Report>> =>
  cause === undefined || isWhole(report) ? Effect.succeed(report) : stoppedAt(report)(cause)
