/** What a run came to, also one that an error stopped, so that what it wrote is shown either way. */
import type { ServiceError } from "@roster/domain"
import { isWhole, type RunReport, Stopped } from "@roster/workflows"
import { Effect } from "effect"
import { messageOf } from "../kit/Problem.tsx"

/** The report of a run with the error that stopped it, if one did. */
export type Ended<Report extends RunReport = RunReport> = Report & { readonly stoppedBy: ServiceError | undefined }

/** Whether a run did all: one that an error stopped before it saw a contact has none left by its counts. */
export const isComplete = (report: Ended): boolean => report.stoppedBy === undefined && isWhole(report)

/** The error that stopped a run, in words. */
export const stopWords = (report: Ended | undefined): string | undefined =>
  report?.stoppedBy === undefined ? undefined : messageOf(report.stoppedBy)

/** The report of a run that ended or was stopped, and the error that stopped it. */
export const runEnd = <Report extends RunReport, E, R>(run: Effect.Effect<Report, E | Stopped<Report>, R>) =>
  run.pipe(
    Effect.map((report): Ended<Report> => ({ ...report, stoppedBy: undefined })),
    Effect.catchIf(
      (error): error is Stopped<Report> => error instanceof Stopped,
      ({ cause, report }) => Effect.succeed<Ended<Report>>({ ...report, stoppedBy: cause })
    )
  )
