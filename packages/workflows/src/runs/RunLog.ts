/**
 * The log of runs: what a program of several steps did, so that it can go on after an interruption and be undone. A service of
 * ours records that itself; at any other one an entry is appended before each write and one after it. (docs/decisions/runs.md)
 */
import {
  ContactsService,
  type InvalidInput,
  RunNotFound,
  RunsService,
  RunTaken,
  type ServiceError,
  sometimes
} from "@roster/domain"
import { KnownFields, randomId } from "@roster/domain/internal"
import { Clock, Context, DateTime, Effect, identity, Layer, Schedule, type Schema, type Scope, Stream } from "effect"
import { makeRunCounter, type RunCounts, type RunEntry } from "./RunEntry.ts"
import {
  type OpenRun,
  type RecordedRun,
  recordedTarget,
  type Run,
  type RunHeader,
  type RunInfo,
  type RunLogFailure,
  RunOrigin,
  type RunTarget,
  type RunTargetOptions,
  targetFields,
  textOf
} from "./RecordedRun.ts"
import { makeServiceRuns } from "./ServiceRuns.ts"

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

const runTarget = ({ storeId = Effect.undefined, target: name }: RunTargetOptions) =>
  storeId.pipe(
    // Our services tell the id in a refusal too, so this one tells none.
    Effect.catchIf(
      ({ reason }) => reason._tag === "AccessDenied",
      () => Effect.undefined
    ),
    Effect.map((id = name): RunTarget => ({ id, name, isNamed: (target) => target === id || target === name }))
  )

/** What runs that do the same have in common, by which they are taken. A run without an input is like no other. */
export const workOf = ({ command, id, input, target, undoes }: RunHeader): string =>
  input === undefined && undoes === undefined ? id : textOf([target, command, input ?? null, undoes ?? null])

/** Looks again after a moment, since another process may only have looked whether a run is taken. */
const atOnce = Schedule.spaced("20 millis").pipe(Schedule.while(({ attempt }) => attempt < 3))

/** Makes the log of runs on a target in a storage. */
export const makeRunLog = (on: RunTargetOptions, storage: RunStorage): RunLog["Service"] => {
  const target = runTarget(on)
  const { runs } = on
  const service = runs === undefined ? undefined : makeServiceRuns(runs, target)
  /** The runs of the service; `undefined` if it records none. */
  const ofService =
    runs === undefined ? Effect.undefined : Effect.map(runs.areKept, (areKept) => (areKept ? service : undefined))
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

  /** Whether somebody is at work on a run that has not ended. */
  const isTaken = ({ end, header }: StoredRun) =>
    end === undefined
      ? Effect.scoped(take(header, header.id)).pipe(
          Effect.as(false),
          Effect.catchTag("RunTaken", () => Effect.succeed(true))
        )
      : Effect.succeed(false)

  let last = 0
  /** Opens a run whose entries are appended. */
  const openHere = Effect.fnUntraced(function* ({
    command,
    input,
    resume = true,
    undoes
  }: OpenRun & { readonly undoes?: string | undefined }) {
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
    const append = (entry: RunEntry, isDurable: boolean) =>
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
      write: identity,
      takesEntries: true,
      earlier: earlier?.entries ?? Stream.empty,
      append: (entry, options) => append(entry, options?.isDurable ?? true),
      end: Effect.suspend(() => (isEmpty ? Effect.void : append({ _tag: "Ended", ...counter.counts() }, true))),
      hasChanged: Effect.sync(counter.hasChanged)
    } satisfies Run
  })

  const open = Effect.fnUntraced(function* (options: OpenRun) {
    yield* KnownFields.checkFields(openFields, options)
    const service = yield* ofService
    return yield* service === undefined ? openHere(options) : service.open(options)
  })

  /** Begins the undo of a run whose entries are here. */
  const beginUndo = ({ end, header }: StoredRun) =>
    Effect.fnUntraced(function* (part?: Schema.Json) {
      const { command, id, input, undoes } = header
      const held =
        end !== undefined || (input === undefined && undoes === undefined)
          ? undefined
          : yield* openHere({ command, input, undoes })
      const own = yield* openHere({ command: "undo", undoes: id, input: part })
      return {
        ...own,
        end: held === undefined || held.header.id !== id ? own.end : Effect.andThen(own.end, held.end)
      } satisfies Run
    })

  const readHere = Effect.fnUntraced(function* (
    run: StoredRun
  ): Effect.fn.Return<RecordedRun, RunTaken | RunLogFailure> {
    if (yield* isTaken(run)) return yield* new RunTaken({ run: run.header.id })
    return {
      ...(yield* infoOf(run)),
      isTaken: false,
      isFormer: !run.canResume,
      entries: run.entries,
      backwards: run.backwards,
      beginUndo: beginUndo(run)
    }
  })

  const read = Effect.fnUntraced(function* (
    id: string
  ): Effect.fn.Return<RecordedRun, RunNotFound | RunTaken | RunLogFailure | ServiceError> {
    const here = yield* Effect.catchTag(storage.find(id), "RunNotFound", () => Effect.undefined)
    if (here !== undefined) return yield* readHere(here)
    const service = yield* ofService
    return yield* service === undefined ? Effect.fail(new RunNotFound({ run: id })) : service.read(id)
  })

  const listHere = Effect.gen(function* () {
    const runs = yield* Effect.forEach(yield* storage.all, (run) =>
      Effect.option(Effect.zipWith(infoOf(run), isTaken(run), (info, isTaken): RunInfo => ({ ...info, isTaken })))
    )
    return runs.flatMap((run) => (run._tag === "Some" ? [run.value] : []))
  })

  const list = Effect.gen(function* () {
    const service = yield* ofService
    const [here, there] = yield* Effect.all([listHere, service === undefined ? Effect.succeed([]) : service.list])
    const times = (run: RunInfo) => Date.parse(run.header.began)
    // Each is in its order; runs here are of a service of another make, or of an earlier version.
    return [...there, ...here].toSorted((one, other) => times(other) - times(one))
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

const memoryFields = KnownFields.fieldsOf<Partial<RunTargetOptions>>("a log of runs", targetFields)
const openFields = KnownFields.fieldsOf<OpenRun>("a run", { command: true, input: true, resume: true })

/** The runs on one service or store. */
export class RunLog extends Context.Service<
  RunLog,
  {
    /** The contacts that its runs are of. */
    readonly target: Effect.Effect<RunTarget, ServiceError>
    /** Begins or resumes a run. It is this scope's alone, and given back when the scope closes. */
    readonly open: (
      options: OpenRun
    ) => Effect.Effect<Run, RunTaken | RunLogFailure | InvalidInput | ServiceError, Scope.Scope>
    /** Reads a run, on whatever target. Fails with `RunTaken` for one that is going on. */
    readonly read: (id: string) => Effect.Effect<RecordedRun, RunNotFound | RunTaken | RunLogFailure | ServiceError>
    /** The runs of the service, and those here on all targets, the newest first. Damaged records are left out. */
    readonly list: Effect.Effect<ReadonlyArray<RunInfo>, RunLogFailure | ServiceError>
  }
>()("@roster/workflows/RunLog") {
  /** A log in memory, which ends with the process. Builds of one layer share it. Throws `InvalidInput` for an unknown option. */
  static readonly layerMemory = (options: Partial<RunTargetOptions> = {}) => {
    KnownFields.requireFields(memoryFields, options)
    const { target = "memory", ...on } = options
    return Layer.succeed(RunLog, makeRunLog({ target, ...on }, memoryStorage()))
  }

  /** The runs of the service, which records them if it is one of ours; of any other one they are in memory. */
  static readonly layer: Layer.Layer<RunLog, never, ContactsService | RunsService> = Layer.unwrap(
    Effect.gen(function* () {
      const { storeId } = yield* ContactsService
      return RunLog.layerMemory({ storeId, runs: yield* RunsService })
    })
  )

  /** A log that does something with each run that it opens, that of an undo too. */
  static readonly withOpened = (
    log: RunLog["Service"],
    opened: <E>(opening: Effect.Effect<Run, E, Scope.Scope>) => Effect.Effect<Run, E, Scope.Scope>
  ): RunLog["Service"] => ({
    ...log,
    open: (options) => opened(log.open(options)),
    read: (id) => Effect.map(log.read(id), (run) => ({ ...run, beginUndo: (part) => opened(run.beginUndo(part)) }))
  })
}
