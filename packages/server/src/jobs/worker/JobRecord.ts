/**
 * A job as whoever has the store sees it.
 */
import { CompressionFormat, ExportFileFormat, WireDate } from "@roster/domain"
import { Option, Schema } from "effect"
import { fromSeconds } from "../../contacts/ContactRow.ts"
import { ExportJobRequest } from "../exports/ExportJob.ts"
import { ImportJobRequest } from "../imports/ImportJob.ts"
import type { JobRow } from "../queue/JobQueue.ts"
import { isOrphaned } from "../../store/ProcessMark.ts"

/**
 * Where a job stands. The file of an import is `Receiving` until all of it is there; what is `Loading` waits or is worked
 * on; an export that is `Ready` becomes `Expired` when its file goes.
 */
export const JobState = Schema.Literals(["Receiving", "Loading", "Ready", "Error", "Cancelled", "Expired"])
export type JobState = typeof JobState.Type

/** What a job was asked for: of an import the file and the list, of an export the file and the contacts. */
export const JobRequest = Schema.Struct({
  /** What the sender of an imported file calls it, or what an exported one is called. */
  fileName: Schema.optionalKey(Schema.String),
  /** The address that a file is imported from, without what could be a secret in it. */
  fileUrl: Schema.optionalKey(Schema.String),
  listName: Schema.optionalKey(Schema.String),
  encodingName: Schema.optionalKey(Schema.String),
  format: Schema.optionalKey(ExportFileFormat),
  compression: Schema.optionalKey(CompressionFormat),
  rule: Schema.optionalKey(Schema.String),
  /** How many addresses were named. */
  emails: Schema.optionalKey(Schema.Int)
})
export type JobRequest = typeof JobRequest.Type

export const Job = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["Import", "Export"]),
  state: JobState,
  /** Whether a process works on it now. A job that is `Loading` without one waits for it. */
  running: Schema.Boolean,
  created: WireDate,
  ended: Schema.NullOr(WireDate),
  /** When the file of an export goes; `null` for an import. */
  expires: Schema.NullOr(WireDate),
  rowsDone: Schema.Int,
  /** How many rows there are to be done, or `null` where that is not known yet. */
  rowsTotal: Schema.NullOr(Schema.Int),
  accepted: Schema.Int,
  rejected: Schema.Int,
  /** How many of the rejected rows, from the first on, `Jobs.rejectedRows` has. */
  rejectedKept: Schema.Int,
  /** How many accepted rows have an address that an accepted row before them had; the last one wins. */
  duplicates: Schema.Int,
  /** Why it is in state `Error`. */
  problem: Schema.NullOr(Schema.String),
  request: JobRequest
})
export type Job = typeof Job.Type

export class JobNotFound extends Schema.TaggedError<JobNotFound>()("JobNotFound", { id: Schema.String }) {
  override get message(): string {
    return `There is no job ${this.id}. Jobs can be seen until 30 days after their end.`
  }
}

/** What has ended cannot be cancelled. */
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

const requestOf = ({ kind, request }: JobRow): JobRequest =>
  kind === "Import"
    ? Option.match(importOf(request), {
        onNone: () => ({}),
        onSome: ({ fileUrl, ...asked }) => (fileUrl === undefined ? asked : { ...asked, fileUrl: shownUrl(fileUrl) })
      })
    : Option.match(exportOf(request), {
        onNone: () => ({}),
        onSome: ({ compression, download, emails, format, rule }) => ({
          fileName: download,
          format,
          compression,
          ...(rule === undefined ? {} : { rule }),
          ...(emails === undefined ? {} : { emails: emails.length })
        })
      })

const isRunning = ({ lease, leased_until, state }: JobRow, now: number): boolean =>
  lease !== null && !isOrphaned(lease) && (state === "Receiving" || (state === "Loading" && leased_until > now))

/** A row as the record that is seen at a time, in seconds. */
export const toJob = (row: JobRow, now: number): Job => {
  // Another driver may read a large integer as text.
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
    problem: row.problem,
    request: requestOf(row)
  }
}
