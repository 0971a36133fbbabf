/** Imports and exports as jobs of the service, with the errors of asking for one and of cancelling it. */
import { Schema } from "effect"
import { Resubscribe } from "../contacts/StatusLadder.ts"
import { FileHeader } from "../csv/FileHeader.ts"
import { TaggedError } from "../errors/TaggedError.ts"
import { WireDate } from "../values/WireDate.ts"
import { CompressionFormat, ExportFileFormat } from "./Export.ts"

/** The kinds of jobs. */
export const JobKind = Schema.Literals(["Import", "Export"])
export type JobKind = typeof JobKind.Type

/** The state of a job: `Receiving` has no complete file yet, `Loading` waits or runs, `Expired` has lost its file. */
export const JobState = Schema.Literals(["Receiving", "Loading", "Ready", "Error", "Cancelled", "Expired"])
export type JobState = typeof JobState.Type

/** The request of a job: the file and list of an import, or the file and contacts of an export. */
export class JobRequest extends Schema.Opaque<JobRequest>()(
  Schema.Struct({
    /** The name of the imported file as its sender gave it, or of the exported file. */
    fileName: Schema.optionalKey(Schema.String),
    /** The URL of the imported file, without parts that could be secret. */
    fileUrl: Schema.optionalKey(Schema.String),
    /** The list that imported contacts are added to. */
    listName: Schema.optionalKey(Schema.String),
    /** The encoding of the imported file, if one was given. */
    encodingName: Schema.optionalKey(Schema.String),
    /** The statuses that the import lifts. */
    resubscribe: Schema.optionalKey(Resubscribe),
    /** The format of the exported file. */
    format: Schema.optionalKey(ExportFileFormat),
    /** The compression of the exported file. */
    compression: Schema.optionalKey(CompressionFormat),
    /** Whether the exported file has the lists of each contact. */
    lists: Schema.optionalKey(Schema.Boolean),
    /** The rule that selects the exported contacts. */
    rule: Schema.optionalKey(Schema.String),
    /** The number of requested addresses. */
    emails: Schema.optionalKey(Schema.Int)
  })
) {}

/** A job of a store, with its progress. */
export class Job extends Schema.Opaque<Job>()(
  Schema.Struct({
    /** The id of the job. */
    id: Schema.String,
    /** Whether it is an import or an export. */
    kind: JobKind,
    /** Where the job is. */
    state: JobState,
    /** Whether a process is running it now. Otherwise a job that is `Loading` waits. */
    running: Schema.Boolean,
    /** When the job was requested, in UTC. */
    created: WireDate,
    /** When the job ended, in UTC; `null` before. */
    ended: Schema.NullOr(WireDate),
    /** When the file of an export is removed; `null` for an import. */
    expires: Schema.NullOr(WireDate),
    /** The number of rows processed so far. */
    rowsDone: Schema.Int,
    /** The number of rows to process, or `null` if not known yet. */
    rowsTotal: Schema.NullOr(Schema.Int),
    /** The number of rows that were imported or exported so far. */
    accepted: Schema.Int,
    /** The number of rows that the import rejected so far. */
    rejected: Schema.Int,
    /** The number of rejected rows, from the first on, that `AccountService.rejectedRows` has. */
    rejectedKept: Schema.Int,
    /** The number of accepted rows with the address of an earlier accepted row. The last one wins. */
    duplicates: Schema.Int,
    /** The number of accepted rows whose contacts kept their status, of which `AccountService.keptStatuses` has the first. */
    statusesKept: Schema.Int,
    /** The reason of the state `Error`. */
    problem: Schema.NullOr(Schema.String),
    /** What was asked for. */
    request: JobRequest
  }).annotate({ identifier: "Job" })
) {}

/** No job has this id. */
export class JobNotFound extends TaggedError<JobNotFound>()("JobNotFound", {
  /** The id that was asked for. */
  id: Schema.String
}) {
  override get message(): string {
    return `There is no job ${this.id}. Jobs can be seen until 30 days after their end.`
  }
}

/** A job that has ended cannot be cancelled. */
export class JobEnded extends TaggedError<JobEnded>()("JobEnded", {
  /** The id of the job. */
  id: Schema.String,
  /** The state in which the job ended. */
  state: JobState
}) {
  override get message(): string {
    return `The job ${this.id} has ended before: its state is ${this.state}.`
  }
}

/** A page of jobs, the newest first. */
export interface JobsPage {
  /** The id of a job: only jobs that were asked for before it are given. */
  readonly before?: string | undefined
  /** The maximum number of jobs, up to 1000 (default: 20). */
  readonly limit?: number | undefined
}

/** A page of the rows that an import rejected, in the order of the file. */
export interface RowsPage {
  /** The line of a row: only later ones are given (default: 0, so all). */
  readonly after?: number | undefined
  /** The maximum number of rows, up to 1000 (default: 20). A page of large ones has fewer. */
  readonly limit?: number | undefined
}

/** Rows that an import rejected, with what their file is written from. */
export const RejectedRows = Schema.Struct({
  /** The header of the file; `null` if no row was rejected. */
  header: Schema.NullOr(FileHeader),
  /** The rows. */
  rows: Schema.Array(
    Schema.Struct({
      /** The line on which the row begins, counted from 1. */
      line: Schema.Int,
      /** Why the import rejected the row, in words. */
      reason: Schema.String,
      /** Its cells, as far as it can be split. */
      cells: Schema.Array(Schema.String)
    })
  )
}).annotate({ identifier: "RejectedRows" })
export interface RejectedRows extends Schema.Schema.Type<typeof RejectedRows> {}
