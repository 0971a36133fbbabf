/**
 * The log of runs: what a program of several steps did, so that it can go on after an interruption and be undone. One entry
 * is appended before each write and one after it. (docs/decisions/runs.md)
 */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import type { RunEntry } from "./RunEntry.ts"

/** What began a run, where and when. */
export const RunHeader = Schema.Struct({
  id: Schema.String,
  /** The command or program, such as `import`. */
  command: Schema.String,
  /** The name of the service or store. */
  target: Schema.String,
  /** When it began, as ISO 8601. */
  began: Schema.String,
  /** What the run works on. An unfinished run goes on only for the same command and an equal input. */
  input: Schema.optionalKey(Schema.Json),
  /** The run that this one undoes. */
  undoes: Schema.optionalKey(Schema.String)
})
export interface RunHeader extends Schema.Schema.Type<typeof RunHeader> {}

/** How many contacts a run created, changed and deleted. */
export interface RunCounts {
  readonly created: number
  readonly changed: number
  readonly deleted: number
}

/** What a run is and did, as a list of runs shows it. */
export interface RunInfo {
  readonly header: RunHeader
  readonly counts: RunCounts
  /** Whether it came to its end. One that did not can go on, or is going on. */
  readonly isEnded: boolean
}

/** The log cannot be written or read. */
export class RunLogFailure extends Schema.TaggedError<RunLogFailure>()("RunLogFailure", {
  /** What went wrong, phrased to follow a colon, without a full stop. */
  detail: Schema.String
}) {
  override get message(): string {
    return `The log of runs cannot be used: ${this.detail}.`
  }
}

/** Another process, or another fiber of this one, is at work on the run. */
export class RunTaken extends Schema.TaggedError<RunTaken>()("RunTaken", { run: Schema.String }) {
  override get message(): string {
    return `The run ${this.run} is going on elsewhere. Try again when it has ended.`
  }
}

/** The log has no run of this id. */
export class RunNotFound extends Schema.TaggedError<RunNotFound>()("RunNotFound", { run: Schema.String }) {
  override get message(): string {
    return `There is no run ${this.run}.`
  }
}

/** How a run is begun. */
export interface OpenRun {
  readonly command: string
  readonly input?: Schema.Json | undefined
  readonly undoes?: string | undefined
  /** Whether to go on with the last unfinished run of this command and input on this target (default: true). */
  readonly resume?: boolean | undefined
}

/** A run that this scope has taken. */
export interface Run {
  readonly header: RunHeader
  /** Whether an earlier process began it. */
  readonly isResumed: boolean
  /** The entries so far, in their order, when the run was opened. */
  readonly earlier: Stream.Stream<RunEntry, RunLogFailure>
  /** Appends an entry. A durable one (default: true) has survived a power failure when this returns. */
  readonly append: (
    entry: RunEntry,
    options?: { readonly isDurable?: boolean | undefined }
  ) => Effect.Effect<void, RunLogFailure>
  /** Says that the run came to its end, so that it does not go on. A run without an entry leaves nothing in the log. */
  readonly end: Effect.Effect<void, RunLogFailure>
  /** The counts so far, of earlier processes too. */
  readonly counts: Effect.Effect<RunCounts>
}

/** A run in the log, to read. */
export interface RecordedRun extends RunInfo {
  readonly entries: Stream.Stream<RunEntry, RunLogFailure>
  /** The same from the last to the first. */
  readonly backwards: Stream.Stream<RunEntry, RunLogFailure>
}

/** The runs on one service or store. */
export class RunLog extends Context.Service<
  RunLog,
  {
    /** The name of the service or store. */
    readonly target: string
    /** Begins a run or goes on with one. It is this scope's alone, and given back when the scope closes. */
    readonly open: (options: OpenRun) => Effect.Effect<Run, RunTaken | RunLogFailure, Scope.Scope>
    /** Reads a run, on whatever target. Fails with `RunTaken` for one that is going on. */
    readonly read: (id: string) => Effect.Effect<RecordedRun, RunNotFound | RunTaken | RunLogFailure>
    /** All runs on all targets, the newest first. */
    readonly list: Effect.Effect<ReadonlyArray<RunInfo>, RunLogFailure>
  }
>()("@roster/workflows/RunLog") {}
