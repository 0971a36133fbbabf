/** What a run came to, also one that an error stopped, so that what it wrote is shown either way. */
import type { ServiceError } from "@roster/domain"
import { type RunReport, Stopped } from "@roster/workflows"
import { Effect } from "effect"

/** The report of a run with the error that stopped it, if one did. */
export type Ended<Report extends RunReport = RunReport> = Report & { readonly stoppedBy: ServiceError | undefined }

/** The report of a run that ended or was stopped, and the error that stopped it. */
export const runEnd = <Report extends RunReport, E, R>(run: Effect.Effect<Report, E | Stopped<Report>, R>) =>
  run.pipe(
    Effect.map((report): Ended<Report> => ({ ...report, stoppedBy: undefined })),
    Effect.catchIf(
      (error): error is Stopped<Report> => error instanceof Stopped,
      ({ cause, report }) => Effect.succeed<Ended<Report>>({ ...report, stoppedBy: cause })
    )
  )
