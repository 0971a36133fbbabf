/** What the service does with each kind of job. */
import type { JobRequest, JobKind } from "@roster/domain"
import type { Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { StorePolicy } from "../../store/StoreOptions.ts"
import { exportJob } from "../exports/ExportJob.ts"
import { importJob } from "../imports/ImportJob.ts"
import type { HeldJob } from "../queue/JobQueue.ts"
import type { QuotaOfKind } from "../queue/JobQuotas.ts"

/** A kind of job. */
interface KindOfJob extends QuotaOfKind {
  /** Its request as its owner sees it, read from its stored text. */
  readonly request: (stored: string) => Option.Option<JobRequest>
  readonly run: (
    job: HeldJob
  ) => Effect.Effect<
    void,
    Effect.Error<ReturnType<typeof exportJob.run> | ReturnType<typeof importJob.run>>,
    SqlClient.SqlClient | StorePolicy
  >
  /** Whether a job begins anew when it is taken up again. */
  readonly startsOver: (job: HeldJob) => boolean
  /** Whether it ends where the disk is full, or waits for room. */
  readonly onDiskFull: "end" | "wait"
}

export const jobKinds: { readonly [Kind in JobKind]: KindOfJob & { readonly kind: Kind } } = {
  Import: importJob,
  Export: exportJob
}

/** The kinds whose jobs leave a file to download. */
export const kindsWithFile = Object.values(jobKinds).flatMap(({ hasFile, kind }) => (hasFile ? [kind] : []))
