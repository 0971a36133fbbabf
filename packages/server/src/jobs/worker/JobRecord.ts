import { CompressionFormat, ExportFileFormat, WireDate } from "@roster/domain"
import { Option, Schema } from "effect"
import { ExportJobRequest } from "../exports/ExportJob.ts"
import { ImportJobRequest } from "../imports/ImportJob.ts"
import { JobKind, type JobRow } from "../queue/JobQueue.ts"
import { isOrphaned } from "../../store/ProcessMark.ts"
import { fromSeconds } from "../../store/Timestamps.ts"

/** The state of a job: `Receiving` has no complete file yet, `Loading` waits or runs, `Expired` has lost its file. */
export const JobState = Schema.Literals(["Receiving", "Loading", "Ready", "Error", "Cancelled", "Expired"])
export type JobState = typeof JobState.Type

/** The request of a job: the file and list of an import, or the file and contacts of an export. */
export const JobRequest = Schema.Struct({
  /** The name of the imported file as its sender gave it, or of the exported file. */
  fileName: Schema.optionalKey(Schema.String),
  /** The URL of the imported file, without parts that could be secret. */
  fileUrl: Schema.optionalKey(Schema.String),
  listName: Schema.optionalKey(Schema.String),
  encodingName: Schema.optionalKey(Schema.String),
  /** Whether the import may resubscribe contacts. */
  resubscribe: Schema.optionalKey(Schema.Boolean),
  format: Schema.optionalKey(ExportFileFormat),
  compression: Schema.optionalKey(CompressionFormat),
  rule: Schema.optionalKey(Schema.String),
  /** The number of requested addresses. */
  emails: Schema.optionalKey(Schema.Int)
})
export type JobRequest = typeof JobRequest.Type

/** A job of a store, with its progress. */
export const Job = Schema.Struct({
  id: Schema.String,
  kind: JobKind,
  state: JobState,
  /** Whether a process is running it now. Otherwise a job that is `Loading` waits. */
  running: Schema.Boolean,
  created: WireDate,
  ended: Schema.NullOr(WireDate),
  /** When the file of an export is removed; `null` for an import. */
  expires: Schema.NullOr(WireDate),
  rowsDone: Schema.Int,
  /** The number of rows to process, or `null` if not known yet. */
  rowsTotal: Schema.NullOr(Schema.Int),
  accepted: Schema.Int,
  rejected: Schema.Int,
  /** The number of rejected rows, from the first on, that `Jobs.rejectedRows` has. */
  rejectedKept: Schema.Int,
  /** The number of accepted rows with the address of an earlier accepted row. The last one wins. */
  duplicates: Schema.Int,
  /** The number of accepted rows whose contacts kept their status, of which `Jobs.keptStatuses` has the first. */
  statusesKept: Schema.Int,
  /** The reason of the state `Error`. */
  problem: Schema.NullOr(Schema.String),
  request: JobRequest
})
export type Job = typeof Job.Type

/** No job has this id. */
export class JobNotFound extends Schema.TaggedError<JobNotFound>()("JobNotFound", { id: Schema.String }) {
  override get message(): string {
    return `There is no job ${this.id}. Jobs can be seen until 30 days after their end.`
  }
}

/** A job that has ended cannot be cancelled. */
export class JobEnded extends Schema.TaggedError<JobEnded>()("JobEnded", { id: Schema.String, state: JobState }) {
  override get message(): string {
    return `The job ${this.id} has ended before: its state is ${this.state}.`
  }
}

const importOf = Schema.decodeOption(Schema.fromJsonString(ImportJobRequest))
const exportOf = Schema.decodeOption(Schema.fromJsonString(ExportJobRequest))

/** A query can be a signature, and a user name comes with a password. */
const shownUrl = (address: string): string => {
  const url = URL.parse(address)
  return url === null ? "" : `${url.origin}${url.pathname}`
}

/** The request of each kind of job, read from its stored text. */
const requestOf: Readonly<Record<JobKind, (stored: string) => Option.Option<JobRequest>>> = {
  Import: (stored) =>
    Option.map(importOf(stored), ({ fileUrl, ...asked }) =>
      fileUrl === undefined ? asked : { ...asked, fileUrl: shownUrl(fileUrl) }
    ),
  Export: (stored) =>
    Option.map(exportOf(stored), ({ compression, download, emails, format, rule }) => ({
      fileName: download,
      format,
      compression,
      ...(rule === undefined ? {} : { rule }),
      ...(emails === undefined ? {} : { emails: emails.length })
    }))
}

const isRunning = ({ lease, leased_until, state }: JobRow, now: number): boolean =>
  lease !== null && !isOrphaned(lease) && (state === "Receiving" || (state === "Loading" && leased_until > now))

/** The record of a row at a time, in seconds. */
export const toJob = (row: JobRow, now: number): Job => {
  // Other drivers read large integers as text.
  const count = (column: number): number => Number(column)
  const isExport = row.kind === "Export"
  return {
    id: row.id,
    kind: row.kind,
    state: isExport && row.state === "Ready" && row.expires <= now ? "Expired" : row.state,
    running: isRunning(row, now),
    created: fromSeconds(count(row.created)),
    ended: row.ended === null ? null : fromSeconds(count(row.ended)),
    expires: isExport ? fromSeconds(count(row.expires)) : null,
    rowsDone: count(row.rows_done),
    rowsTotal: row.state === "Ready" ? count(row.rows_done) : row.rows_total === null ? null : count(row.rows_total),
    accepted: count(row.accepted),
    rejected: count(row.rejected),
    rejectedKept: count(row.rejected_kept),
    duplicates: count(row.duplicates),
    statusesKept: count(row.statuses_kept),
    problem: row.problem,
    request: Option.getOrElse(requestOf[row.kind](row.request), () => ({}))
  }
}
