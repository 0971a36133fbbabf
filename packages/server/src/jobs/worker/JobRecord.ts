/** The job of a store as its owner sees it, with the errors of asking for one and of cancelling it. */
import { CompressionFormat, ExportFileFormat, Resubscribe, TaggedError, WireDate } from "@roster/domain"
import { Schema } from "effect"
import { JobKind } from "../queue/JobQueue.ts"

/** The state of a job: `Receiving` has no complete file yet, `Loading` waits or runs, `Expired` has lost its file. */
export const JobState = Schema.Literals(["Receiving", "Loading", "Ready", "Error", "Cancelled", "Expired"])
export type JobState = typeof JobState.Type

/** The request of a job: the file and list of an import, or the file and contacts of an export. */
export const JobRequest = Schema.Struct({
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
  /** The rule that selects the exported contacts. */
  rule: Schema.optionalKey(Schema.String),
  /** The number of requested addresses. */
  emails: Schema.optionalKey(Schema.Int)
})
export interface JobRequest extends Schema.Schema.Type<typeof JobRequest> {}

/** A job of a store, with its progress. */
export const Job = Schema.Struct({
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
  /** The number of rejected rows, from the first on, that `Jobs.rejectedRows` has. */
  rejectedKept: Schema.Int,
  /** The number of accepted rows with the address of an earlier accepted row. The last one wins. */
  duplicates: Schema.Int,
  /** The number of accepted rows whose contacts kept their status, of which `Jobs.keptStatuses` has the first. */
  statusesKept: Schema.Int,
  /** The reason of the state `Error`. */
  problem: Schema.NullOr(Schema.String),
  /** What was asked for. */
  request: JobRequest
})
export interface Job extends Schema.Schema.Type<typeof Job> {}

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
