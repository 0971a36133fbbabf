/** What a run is, what began it and what is known of it, wherever it is recorded. (docs/decisions/runs.md) */
import {
  type RecordedChange,
  type RunNotFound,
  type RunsService,
  type RunTaken,
  type ServiceError,
  TaggedError
} from "@roster/domain"
import { type KnownFields } from "@roster/domain/internal"
import { Context, type Effect, Predicate, Schema, type Scope, type Stream } from "effect"
import type { AppendedEntry, RunCounts, RunEntry } from "./RunEntry.ts"

/** What began a run, where and when. */
export const RunHeader = Schema.Struct({
  /** The id of the run, which begins with its time. */
  id: Schema.String,
  /** The command or program, such as `import`. */
  command: Schema.String,
  /** The id of the store whose contacts it changes, or the address of a service that tells none. */
  target: Schema.String,
  /** The name of the service or store for people, if it is another. */
  name: Schema.optionalKey(Schema.String),
  /** When it began, as ISO 8601. */
  began: Schema.String,
  /** What the run works on. An unfinished run resumes only for the same command and an equal input, and never without one. */
  input: Schema.optionalKey(Schema.Json),
  /** The run that this one undoes. */
  undoes: Schema.optionalKey(Schema.String),
  /** What it is of, in words: the name of a file, or a rule. */
  about: Schema.optionalKey(Schema.String),
  /** Who began it: the name of the key, or of the user whose log it is. */
  by: Schema.optionalKey(Schema.String)
})
export interface RunHeader extends Schema.Schema.Type<typeof RunHeader> {}

/**
 * What the runs that begin say of themselves for people. It does not decide which run resumes. A reference, since the program
 * around a workflow knows it, and no workflow acts on it.
 */
export const RunOrigin = Context.Reference<Pick<RunHeader, "about" | "by">>("@roster/workflows/RunOrigin", {
  defaultValue: () => ({})
})

/** What a run is and did, as a list of runs shows it. */
export interface RunInfo {
  /** What began it, where and when. */
  readonly header: RunHeader
  /** How many contacts it created, changed and deleted. */
  readonly counts: RunCounts
  /** Whether it came to its end. One that did not can go on, or is going on. */
  readonly isEnded: boolean
  /** Whether somebody is at work on it. */
  readonly isTaken: boolean
}

/** The log cannot be written or read. */
export class RunLogFailure extends TaggedError<RunLogFailure>()("RunLogFailure", {
  /** What went wrong, phrased to follow a colon, without a full stop. */
  detail: Schema.String
}) {
  override get message(): string {
    return `The log of runs cannot be used: ${this.detail}.`
  }
}

/** How a run is begun. */
export interface OpenRun {
  /** The command or program, such as `import`. */
  readonly command: string
  /** What the run works on, so that a later one with equal input resumes it (default: none does). */
  readonly input?: Schema.Json | undefined
  /** Whether to resume the last run of this command and input on this target if it is unfinished (default: true). */
  readonly resume?: boolean | undefined
}

/** A run that this scope has taken. */
export interface Run {
  /** What began it, where and when. */
  readonly header: RunHeader
  /** Whether an earlier process began it. */
  readonly isResumed: boolean
  /** Makes a call whose writes are a part of the run. By its answer one can tell whether it changed anything (default: it did). */
  readonly write: <A, E, R>(call: Effect.Effect<A, E, R>, hasChanged?: (answer: A) => boolean) => Effect.Effect<A, E, R>
  /** Whether entries have to be appended for its writes; otherwise the service records these, and nothing else. */
  readonly takesEntries: boolean
  /** The entries so far, in their order, when the run was opened. */
  readonly earlier: Stream.Stream<RunEntry, RunLogFailure | ServiceError>
  /** Appends an entry. A durable one (default: true) has survived a power failure when this returns. */
  readonly append: (
    entry: AppendedEntry,
    options?: { readonly isDurable?: boolean | undefined }
  ) => Effect.Effect<void, RunLogFailure>
  /** Says that the run came to its end, so that it does not go on. A run without an entry leaves nothing in the log. */
  readonly end: Effect.Effect<void, RunLogFailure>
  /** Whether it changed anything so far, lists included, in earlier processes too. */
  readonly hasChanged: Effect.Effect<boolean>
}

/** A run in the log, to read. */
export interface RecordedRun extends RunInfo {
  /** Whether its record has the form of the version before, whose digests of new contacts include dates. */
  readonly isFormer: boolean
  /** Its entries, in their order. */
  readonly entries: Stream.Stream<RunEntry, RunLogFailure | ServiceError>
  /** Its entries from the last to the first. */
  readonly backwards: Stream.Stream<RunEntry, RunLogFailure | ServiceError>
  /** How many changes the service recorded, and those after a number; absent if entries were appended. */
  readonly recorded?: {
    readonly total: number
    readonly changes: (after: number) => Stream.Stream<RecordedChange, RunLogFailure | ServiceError>
  }
  /**
   * Begins the run that undoes it, where it is recorded itself, or resumes the one of the same part (default: all). It does not
   * go on meanwhile, nor afterwards.
   */
  readonly beginUndo: (
    part?: Schema.Json
  ) => Effect.Effect<Run, RunNotFound | RunTaken | RunLogFailure | ServiceError, Scope.Scope>
}

/** JSON as one text for equal values. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    Predicate.isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  )

/** What the runs and plans of a log are of. */
export interface RunTargetOptions {
  /** The address of the service, or the path of the store, which records name if it tells no id. */
  readonly target: string
  /** The id of the store, such as that of `ContactsService` (default: none). */
  readonly storeId?: Effect.Effect<string | undefined, ServiceError> | undefined
  /** The runs of the service, which records them itself if it is one of ours (default: entries are appended for all runs). */
  readonly runs?: RunsService["Service"] | undefined
}

/** Their fields. */
export const targetFields: KnownFields.Names<RunTargetOptions> = { target: true, storeId: true, runs: true }

/** The contacts that runs and plans are of. */
export interface RunTarget {
  /** What records name: the id of the store, or the address of a service that tells none. */
  readonly id: string
  /** The address of the service, or the path of the store, for people. */
  readonly name: string
  /** Whether a record that names this target is of these contacts. Those of earlier versions name the address. */
  readonly isNamed: (target: string) => boolean
}

/** What a record says of its target. */
export const recordedTarget = ({ id, name }: RunTarget): Pick<RunHeader, "target" | "name"> =>
  id === name ? { target: id } : { target: id, name }
