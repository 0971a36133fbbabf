/**
 * The log of runs: what a program of several steps did, so that it can go on after an interruption and be undone. One entry
 * is appended before each write and one after it. (docs/decisions/runs.md)
 */
import { randomId, RunNotFound, RunTaken, type ServiceError, sometimes, TaggedError } from "@roster/domain"
import { Clock, Context, DateTime, Effect, Layer, Predicate, Schedule, Schema, type Scope, Stream } from "effect"
import { type AppendedEntry, makeRunCounter, type RunCounts, type RunEntry } from "./RunEntry.ts"

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
  /** Who began it. */
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
  /** The id of the run that this one undoes. */
  readonly undoes?: string | undefined
  /** Whether to resume the last run of this command and input on this target if it is unfinished (default: true). */
  readonly resume?: boolean | undefined
}

/** A run that this scope has taken. */
export interface Run {
  /** What began it, where and when. */
  readonly header: RunHeader
  /** Whether an earlier process began it. */
  readonly isResumed: boolean
  /** The entries so far, in their order, when the run was opened. */
  readonly earlier: Stream.Stream<RunEntry, RunLogFailure>
  /** Appends an entry. A durable one (default: true) has survived a power failure when this returns. */
  readonly append: (
    entry: AppendedEntry,
    options?: { readonly isDurable?: boolean | undefined }
  ) => Effect.Effect<void, RunLogFailure>
  /** Says that the run came to its end, so that it does not go on. A run without an entry leaves nothing in the log. */
  readonly end: Effect.Effect<void, RunLogFailure>
  /** The counts so far, of earlier processes too. */
  readonly counts: Effect.Effect<RunCounts>
}

/** A run in the log, to read. */
export interface RecordedRun extends RunInfo {
  /** Whether its record has the form of the version before, whose digests of new contacts include dates. */
  readonly isFormer: boolean
  /** Its entries, in their order. */
  readonly entries: Stream.Stream<RunEntry, RunLogFailure>
  /** Its entries from the last to the first. */
  readonly backwards: Stream.Stream<RunEntry, RunLogFailure>
}

/** Where a run is written. */
export interface RunWriter {
  readonly write: (entry: RunEntry, isDurable: boolean) => Effect.Effect<void, RunLogFailure>
}

/** What a log stands in. */
export interface RunStorage {
  /** Takes a name for the scope, and says whether nobody else has it. */
  readonly take: (name: string) => Effect.Effect<boolean, RunLogFailure, Scope.Scope>
  /** All runs, the newest first, without the counts. Those that cannot be read are left out. */
  readonly all: Effect.Effect<ReadonlyArray<StoredRun>, RunLogFailure>
  /** A run as it is, or as it was when it had a size. */
  readonly find: (id: string, size?: number) => Effect.Effect<StoredRun, RunNotFound | RunLogFailure>
  /** Begins a run with its first entry, or resumes one. */
  readonly write: (header: RunHeader, isNew: boolean) => Effect.Effect<RunWriter, RunLogFailure, Scope.Scope>
}

/** A run as its storage has it. */
export interface StoredRun {
  readonly header: RunHeader
  /** Whether this version resumes runs of that form. */
  readonly canResume: boolean
  /** The end, if the run came to it. */
  readonly end: RunCounts | undefined
  /** How much the storage has of it. What is appended later is none of its entries. */
  readonly size: number
  readonly entries: Stream.Stream<RunEntry, RunLogFailure>
  readonly backwards: Stream.Stream<RunEntry, RunLogFailure>
}

/** JSON as one text for equal values. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    Predicate.isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  )

/** What the runs and plans of a log are of. */
export interface RunTargetOptions {
  /** The address of the service, or the path of the store, which records name if it tells no id. */
  readonly target: string
  /** The id of the store, such as that of `ContactsService` (default: none). */
  readonly storeId?: Effect.Effect<string | undefined, ServiceError> | undefined
}

/** The contacts that runs and plans are of. */
export interface RunTarget {
  /** What records name: the id of the store, or the address of a service that tells none. */
  readonly id: string
  /** The address of the service, or the path of the store, for people. */
  readonly name: string
  /** Whether a record that names this target is of these contacts. Those of earlier versions name the address. */
  readonly isNamed: (target: string) => boolean
}

const runTarget = ({ storeId = Effect.undefined, target: name }: RunTargetOptions) =>
  storeId.pipe(
    // Our services tell the id in a refusal too, so this one tells none.
    Effect.catchIf(
      ({ reason }) => reason._tag === "AccessDenied",
      () => Effect.undefined
    ),
    Effect.map((id = name): RunTarget => ({ id, name, isNamed: (target) => target === id || target === name }))
  )

/** What a record says of its target. */
export const recordedTarget = ({ id, name }: RunTarget): Pick<RunHeader, "target" | "name"> =>
  id === name ? { target: id } : { target: id, name }

/** What runs that do the same have in common, by which they are taken. A run without an input is like no other. */
export const workOf = ({ command, id, input, target, undoes }: RunHeader): string =>
  input === undefined && undoes === undefined ? id : textOf([target, command, input ?? null, undoes ?? null])

/** Looks again after a moment, since another process may only have looked whether a run is taken. */
const atOnce = Schedule.spaced("20 millis").pipe(Schedule.while(({ attempt }) => attempt < 3))

/** Makes the log of runs on a target in a storage. */
export const makeRunLog = (on: RunTargetOptions, storage: RunStorage): RunLog["Service"] => {
  const target = runTarget(on)
  const take = (header: RunHeader, run: string) =>
    storage.take(workOf(header)).pipe(
      Effect.filterOrFail(
        (isTaken) => isTaken,
        () => new RunTaken({ run })
      ),
      Effect.retry({ while: (error) => error._tag === "RunTaken", schedule: atOnce })
    )

  const count = ({ end, entries }: StoredRun) => {
    const counter = makeRunCounter()
    const all = Stream.runForEach(entries, (entry) => Effect.sync(() => counter.add(entry)))
    return Effect.as(end === undefined ? all : Effect.sync(() => counter.add({ _tag: "Ended", ...end })), counter)
  }

  const infoOf = (run: StoredRun) =>
    Effect.map(count(run), (counter) => ({
      header: run.header,
      counts: counter.counts(),
      isEnded: run.end !== undefined
    }))

  let last = 0
  const open = Effect.fnUntraced(function* ({ command, input, resume = true, undoes }: OpenRun) {
    const here = yield* target
    // Ids sort by time, also those of runs that one process begins in the same millisecond.
    last = Math.max(last + 1, yield* Clock.currentTimeMillis)
    const began = DateTime.formatIso(DateTime.makeUnsafe(last))
    const header: RunHeader = {
      id: `${began.replaceAll(/[-:.]/g, "")}-${(yield* randomId).slice(0, 4)}`,
      command,
      ...recordedTarget(here),
      began,
      ...(yield* RunOrigin),
      ...(input === undefined ? {} : { input }),
      ...(undoes === undefined ? {} : { undoes })
    }
    const work = workOf(header)
    const isSameWork = ({ header }: StoredRun) =>
      here.isNamed(header.target) && workOf({ ...header, target: here.id }) === work
    const newest = Effect.map(storage.all, (runs) => runs.find((run) => run.canResume && isSameWork(run)))
    yield* take(header, command).pipe(
      Effect.catchTag("RunTaken", () =>
        Effect.flatMap(newest, (run) => Effect.fail(new RunTaken({ run: run?.header.id ?? command })))
      )
    )
    const found = yield* newest
    const earlier = resume && found !== undefined && found.end === undefined ? found : undefined
    // Who reads it takes it by the name that it has.
    if (earlier !== undefined && earlier.header.target !== here.id) yield* take(earlier.header, earlier.header.id)
    const counter = earlier === undefined ? makeRunCounter() : yield* count(earlier)
    const taken = earlier?.header ?? header
    if (earlier !== undefined) yield* sometimes("a run resumes")
    const writer = yield* storage.write(taken, earlier === undefined)
    let isEmpty = earlier === undefined
    const write = (entry: RunEntry, isDurable: boolean) =>
      Effect.andThen(
        writer.write(entry, isDurable),
        Effect.sync(() => {
          isEmpty = false
          counter.add(entry)
        })
      )
    return {
      header: taken,
      isResumed: earlier !== undefined,
      earlier: earlier?.entries ?? Stream.empty,
      append: (entry, options) => write(entry, options?.isDurable ?? true),
      end: Effect.suspend(() => (isEmpty ? Effect.void : write({ _tag: "Ended", ...counter.counts() }, true))),
      counts: Effect.sync(counter.counts)
    } satisfies Run
  })

  const read = Effect.fnUntraced(function* (id: string) {
    const run = yield* storage.find(id)
    if (run.end === undefined) yield* Effect.scoped(take(run.header, id))
    return { ...(yield* infoOf(run)), isFormer: !run.canResume, entries: run.entries, backwards: run.backwards }
  })

  const list = Effect.gen(function* () {
    const runs = yield* Effect.forEach(yield* storage.all, (run) => Effect.option(infoOf(run)))
    return runs.flatMap((run) => (run._tag === "Some" ? [run.value] : []))
  })

  return { target, open, read, list }
}

/** A storage that ends with the process. */
export const memoryStorage = (): RunStorage => {
  const runs: Array<{ readonly header: RunHeader; readonly entries: Array<RunEntry> }> = []
  const taken = new Set<string>()
  const storedOf = ({ entries, header }: (typeof runs)[number], size = entries.length): StoredRun => {
    const last = entries[size - 1]
    return {
      header,
      canResume: true,
      end: last?._tag === "Ended" ? last : undefined,
      size,
      entries: Stream.suspend(() => Stream.fromIterable(entries.slice(0, size))),
      backwards: Stream.suspend(() => Stream.fromIterable(entries.slice(0, size).toReversed()))
    }
  }
  return {
    take: (name) =>
      Effect.acquireRelease(
        // In one step, so that nobody else takes it between the look and the taking.
        Effect.sync(() => !taken.has(name) && taken.add(name).has(name)),
        (isOurs) => Effect.sync(() => isOurs && taken.delete(name))
      ),
    all: Effect.sync(() => runs.map((run) => storedOf(run)).toReversed()),
    find: (id, size) =>
      Effect.suspend(() => {
        const run = runs.find(({ header }) => header.id === id)
        return run === undefined ? Effect.fail(new RunNotFound({ run: id })) : Effect.succeed(storedOf(run, size))
      }),
    write: (header) =>
      Effect.succeed({
        write: (entry) =>
          Effect.sync(() => {
            const run = runs.find((one) => one.header.id === header.id)
            if (run === undefined) runs.push({ header, entries: [entry] })
            else run.entries.push(entry)
          })
      })
  }
}

/** The runs on one service or store. */
export class RunLog extends Context.Service<
  RunLog,
  {
    /** The contacts that its runs are of. */
    readonly target: Effect.Effect<RunTarget, ServiceError>
    /** Begins or resumes a run. It is this scope's alone, and given back when the scope closes. */
    readonly open: (options: OpenRun) => Effect.Effect<Run, RunTaken | RunLogFailure | ServiceError, Scope.Scope>
    /** Reads a run, on whatever target. Fails with `RunTaken` for one that is going on. */
    readonly read: (id: string) => Effect.Effect<RecordedRun, RunNotFound | RunTaken | RunLogFailure>
    /** All runs on all targets, the newest first. Those whose records are damaged are left out. */
    readonly list: Effect.Effect<ReadonlyArray<RunInfo>, RunLogFailure>
  }
>()("@roster/workflows/RunLog") {
  /** A log in memory, which ends with the process. Builds of one layer share it. */
  static readonly layerMemory = ({ target = "memory", storeId }: Partial<RunTargetOptions> = {}) =>
    Layer.succeed(RunLog, makeRunLog({ target, storeId }, memoryStorage()))
}
