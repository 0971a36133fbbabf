/**
 * The log of runs as files of JSON lines in a folder of the user, one for each run. They hold personal data, so that the user
 * alone can read them, and they are kept for 30 days. Needs a file system, and Node for its locks. (docs/decisions/runs.md)
 */
import { RunNotFound } from "@roster/domain"
import { JsonParser, KnownFields } from "@roster/domain/internal"
import {
  Clock,
  Duration,
  Effect,
  FileSystem,
  Layer,
  Option,
  PlatformError,
  Result,
  Schema,
  Scope,
  Semaphore,
  Stream
} from "effect"
import { hash } from "node:crypto"
import { constants } from "node:fs"
import { join } from "node:path"
import { takeLock } from "./FileLock.ts"
import { RunEntry } from "./RunEntry.ts"
import { RunHeader, RunLogFailure, type RunTargetOptions, targetFields } from "./RecordedRun.ts"
import { makeRunLog, RunLog, type RunStorage, type RunWriter, type StoredRun, workOf } from "./RunLog.ts"

export { takeLock } from "./FileLock.ts"
export type { RunStorage } from "./RunLog.ts"

/** Where the files stand, and how much of them is kept. */
export interface RunFilesOptions extends RunTargetOptions {
  /** The folder, which is created if it is missing, and closed to other users. */
  readonly folder: string
  /** How long the record of a run is kept (default: 30 days). */
  readonly keptFor?: Duration.Input | undefined
  /** Maximum size of all records in bytes (default: 4 GiB). The oldest go first. */
  readonly maximumBytes?: number | undefined
}

const fileFields = KnownFields.fieldsOf<RunFilesOptions>("a log of runs", {
  ...targetFields,
  folder: true,
  keptFor: true,
  maximumBytes: true
})

const FirstLine = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ run: Schema.Literal("roster"), version: Schema.Literal(2), header: RunHeader }),
    Schema.Struct({ run: Schema.Literal("roster contacts"), version: Schema.Literal(1), header: RunHeader })
  ])
)
const encodeFirst = Schema.encodeSync(FirstLine)
const decodeFirst = Schema.decodeUnknownResult(FirstLine)
const decodeEntry = Schema.decodeUnknownResult(JsonParser.fromJsonString(RunEntry))

const suffix = ".jsonl"
const isId = (text: string): boolean => /^\d{8}T\d{9}Z-[0-9a-f]{4}$/.test(text)

/** More than the first line of a record takes, and than the last one of a run that ended. */
const endBytes = 64 * 1024

const failed = (cause: unknown): RunLogFailure => {
  if (cause instanceof RunLogFailure) return cause
  // The system's own words.
  const said = PlatformError.isPlatformError(cause) ? (cause.reason.cause ?? cause) : cause
  return new RunLogFailure({ detail: said instanceof Error ? said.message : String(said) })
}

const orFailed = Effect.mapError(failed)

// Windows has no such flag, nor owners or modes.
const noFollow = constants.O_NOFOLLOW !== undefined
const self = process.getuid?.()

const belongsToOther = ({ uid }: FileSystem.File.Info): boolean =>
  self !== undefined && Option.exists(uid, (owner) => owner !== self)

/** Refuses what another user, or a link to another file, could have put in the place of a record. */
const refuseForeign = (path: string, info: FileSystem.File.Info): Effect.Effect<void, RunLogFailure> => {
  const problem =
    info.type !== "File" || Option.exists(info.nlink, (names) => names > 1n)
      ? "is not a file of its own"
      : belongsToOther(info)
        ? "belongs to another user"
        : self !== undefined && (info.mode & 0o022) !== 0
          ? "can be changed by other users"
          : undefined
  return problem === undefined ? Effect.void : Effect.fail(new RunLogFailure({ detail: `${path} ${problem}` }))
}

/** Creates the folder if it is missing, and closes it to other users. */
const prepareFolder = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, folder: string) {
  yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
  const info = yield* fs.stat(folder)
  if (self === undefined) return
  if (belongsToOther(info)) return yield* new RunLogFailure({ detail: `${folder} belongs to another user` })
  if ((info.mode & 0o077) !== 0) yield* fs.chmod(folder, 0o700)
}, orFailed)

/** Makes a new name in a folder survive a power failure. */
const syncFolder = (fs: FileSystem.FileSystem, folder: string) =>
  process.platform === "win32" ? Effect.void : Effect.scoped(Effect.flatMap(fs.open(folder), ({ sync }) => sync))

/** Where a line stands in its file. */
interface Place {
  readonly at: number
  readonly length: number
}

/** Opens a record that is there, and follows no link. */
const openRecord = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, file: string, flag: "r" | "r+") {
  // To open a pipe would wait for its other end.
  yield* refuseForeign(file, yield* fs.lstat(file))
  const handle = yield* fs.open(file, { flag, noFollow })
  yield* refuseForeign(file, yield* handle.stat)
  return handle
})

const readAt = Effect.fnUntraced(function* (handle: FileSystem.File, at: number, bytes: Uint8Array) {
  let done = 0
  for (let got = 1; got > 0 && done < bytes.length; done += got) {
    got = yield* handle.read(bytes.subarray(done), { position: BigInt(at + done) })
  }
  return new TextDecoder().decode(bytes.subarray(0, done))
})

/** The whole lines of a file up to a size. A line that a killed process left incomplete is none. */
const placesOf = Effect.fnUntraced(function* (handle: FileSystem.File, size: number) {
  const places: Array<Place> = []
  const block = new Uint8Array(endBytes)
  let begin = 0
  for (let at = 0; at < size;) {
    const length = Math.min(block.length, size - at)
    const bytesRead = yield* handle.read(block.subarray(0, length), { position: BigInt(at) })
    if (bytesRead === 0) break
    for (let end = block.indexOf(10); end >= 0 && end < bytesRead; end = block.indexOf(10, end + 1)) {
      places.push({ at: begin, length: at + end - begin })
      begin = at + end + 1
    }
    at += bytesRead
  }
  return places
})

const sizeOf = ({ stat }: FileSystem.File) => Effect.map(stat, ({ size }) => Number(size))

/** What a record holds. Fails with `RunLogFailure` for one that is damaged or foreign, by the name of its file. */
const lookAt = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, file: string, upTo = Infinity) {
  const handle = yield* openRecord(fs, file, "r")
  const size = Math.min(yield* sizeOf(handle), upTo)
  const damaged = new RunLogFailure({ detail: `the record ${file} is damaged` })
  const textAt = (at: number) => readAt(handle, at, new Uint8Array(Math.min(endBytes, size - at)))
  const start = yield* textAt(0)
  const first = decodeFirst(start.split("\n", 1)[0])
  if (Result.isFailure(first)) return yield* damaged
  const rest = size <= endBytes ? start : yield* textAt(size - endBytes)
  const end = decodeEntry(rest.split("\n").at(-2))
  const entriesBy = (order: (places: ReadonlyArray<Place>) => ReadonlyArray<Place>) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const handle = yield* openRecord(fs, file, "r")
        const places = order((yield* placesOf(handle, size)).slice(1))
        return Stream.mapEffect(
          Stream.fromIterable(places),
          Effect.fnUntraced(function* ({ at, length }) {
            const entry = decodeEntry(yield* readAt(handle, at, new Uint8Array(length)))
            return Result.isFailure(entry) ? yield* damaged : entry.success
          })
        )
      })
    ).pipe(Stream.mapError(failed))
  const { header, version } = first.success
  const run: StoredRun = {
    header,
    canResume: version === 2,
    end: Result.isSuccess(end) && end.success._tag === "Ended" ? end.success : undefined,
    size,
    entries: entriesBy((places) => places),
    backwards: entriesBy((places) => places.toReversed())
  }
  return run
}, Effect.scoped)

/** A record that is written, and its size. */
interface OpenRecord {
  readonly handle: FileSystem.File
  bytes: number
}

/** Opens a record to go on with, of which an incomplete last line is removed. */
const openToAppend = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, file: string) {
  const handle = yield* openRecord(fs, file, "r+")
  const last = (yield* placesOf(handle, yield* sizeOf(handle))).at(-1)
  const bytes = last === undefined ? 0 : last.at + last.length + 1
  yield* handle.truncate(bytes)
  yield* handle.seek(BigInt(bytes), "start")
  const opened: OpenRecord = { handle, bytes }
  return opened
})

/** The storage of a log in a folder. */
export const storage = Effect.fnUntraced(function* ({
  folder,
  keptFor = Duration.days(30),
  maximumBytes = 4 * 1024 ** 3
}: Omit<RunFilesOptions, "target">): Effect.fn.Return<RunStorage, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  // Where the service records all runs, no folder is needed.
  let isPrepared = false
  const prepared = Effect.suspend(() =>
    isPrepared
      ? Effect.void
      : Effect.andThen(
          prepareFolder(fs, folder),
          Effect.sync(() => void (isPrepared = true))
        )
  )
  const fileOf = (id: string) => join(folder, id + suffix)

  /** The ids of all runs, the newest first. */
  const ids = Effect.gen(function* () {
    if (!(yield* orFailed(fs.exists(folder)))) return []
    yield* prepared
    const names = yield* orFailed(fs.readDirectory(folder))
    return names
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))
      .filter(isId)
      .toSorted()
      .toReversed()
  })

  const take = (name: string): Effect.Effect<boolean, RunLogFailure, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.andThen(
        prepared,
        Effect.try({ try: () => takeLock(join(folder, `${hash("sha256", name).slice(0, 32)}.lock`)), catch: failed })
      ),
      (giveBack) => Effect.sync(() => giveBack?.())
    ).pipe(Effect.map((giveBack) => giveBack !== undefined))

  /** The record in a file, if it is one that can be read. Fails where the disk does, so that no run is forgotten for that. */
  const recordIn = (file: string) =>
    lookAt(fs, file).pipe(
      Effect.asSome,
      Effect.catchIf(
        (error) => error instanceof RunLogFailure || /^(?:NotFound|PermissionDenied)$/.test(error.reason._tag),
        () => Effect.succeedNone
      ),
      orFailed
    )

  /** Whether a process is at work on the run of a file, or may be. */
  const isGoingOn = (file: string) =>
    Effect.flatMap(recordIn(file), (run) =>
      Option.isSome(run) && run.value.end === undefined
        ? Effect.map(take(workOf(run.value.header)), (isFree) => !isFree)
        : Effect.succeed(false)
    ).pipe(
      Effect.scoped,
      Effect.orElseSucceed(() => true)
    )

  /** Removes the records that are too old, and the oldest of too many. */
  const removeOld = Effect.gen(function* () {
    const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(Duration.fromInputUnsafe(keptFor))
    let bytes = 0
    for (const id of yield* ids) {
      const file = fileOf(id)
      const info = yield* Effect.option(fs.lstat(file))
      if (Option.isNone(info)) continue
      bytes += Number(info.value.size)
      const isOld = Option.exists(info.value.mtime, (written) => written.getTime() < oldest)
      if ((isOld || bytes > maximumBytes) && !(yield* isGoingOn(file))) yield* Effect.ignore(fs.remove(file))
    }
  })

  const write = Effect.fnUntraced(function* (header: RunHeader, isNew: boolean) {
    // The id names the file.
    if (!isId(header.id)) return yield* new RunLogFailure({ detail: "this is no id of a run" })
    const scope = yield* Effect.scope
    const file = fileOf(header.id)
    const [writing, flushing] = [yield* Semaphore.make(1), yield* Semaphore.make(1)]
    let open: OpenRecord | undefined
    let broken: RunLogFailure | undefined
    let isFull = false
    /** How many lines are in the file, and on the disk. */
    let written = 0
    let synced = 0

    const put = Effect.fnUntraced(function* (to: OpenRecord, line: string) {
      const bytes = new TextEncoder().encode(`${line}\n`)
      yield* to.handle.writeAll(bytes)
      to.bytes += bytes.length
      written++
    })

    /** Creates the record, and no other file or link in its place; leaves none without its first line. */
    const begun = Effect.gen(function* () {
      yield* removeOld
      const handle = yield* Scope.provide(fs.open(file, { flag: "ax", mode: 0o600 }), scope)
      const record: OpenRecord = { handle, bytes: 0 }
      yield* put(record, encodeFirst({ run: "roster", version: 2, header })).pipe(
        Effect.andThen(syncFolder(fs, folder)),
        Effect.tapError(() => Effect.ignore(fs.remove(file)))
      )
      return record
    })

    /** The file comes into being with the first entry. */
    const opened = Effect.suspend(() =>
      open === undefined
        ? Effect.tap(isNew ? begun : Scope.provide(openToAppend(fs, file), scope), (record) =>
            Effect.sync(() => void (open = record))
          )
        : Effect.succeed(open)
    )

    /** Waits until so many lines are on the disk. Writers that wait together share a flush. */
    const flushed = (count: number) =>
      flushing.withPermit(
        Effect.suspend(() => {
          if (synced >= count || open === undefined) return Effect.void
          const upTo = written
          return Effect.andThen(
            open.handle.sync,
            Effect.sync(() => void (synced = upTo))
          )
        })
      )

    /** No line follows an incomplete one, or one that may be lost. */
    const noted = <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError | RunLogFailure, R>) =>
      orFailed(effect).pipe(Effect.tapError((error) => Effect.sync(() => void (broken ??= error))))

    const append = Effect.fnUntraced(function* (entry: RunEntry) {
      if (broken !== undefined) return yield* broken
      const to = yield* opened
      if (isFull && entry._tag !== "Ended") return 0
      const line = JSON.stringify(entry)
      isFull ||= to.bytes + line.length > maximumBytes
      const full: RunEntry = { _tag: "Unknown", what: "more changes than a record holds" }
      yield* put(to, isFull && entry._tag !== "Ended" ? JSON.stringify(full) : line)
      return written
    }, noted)

    const writer: RunWriter = {
      write: (entry, isDurable) =>
        Effect.flatMap(writing.withPermit(append(entry)), (count) =>
          isDurable ? noted(flushed(count)) : Effect.void
        ).pipe(Effect.uninterruptible)
    }
    return writer
  })

  return {
    take,
    write,
    all: Effect.gen(function* () {
      const found = yield* Effect.forEach(yield* ids, (id) => recordIn(fileOf(id)))
      return found.flatMap((run) => Option.toArray(run))
    }),
    find: Effect.fnUntraced(function* (id: string, size?: number) {
      if (!(yield* ids).includes(id)) return yield* new RunNotFound({ run: id })
      return yield* orFailed(lookAt(fs, fileOf(id), size))
    })
  }
})

/** The log of runs in a folder. Throws `InvalidInput` for an unknown option. */
export const layer = (options: RunFilesOptions): Layer.Layer<RunLog, never, FileSystem.FileSystem> => {
  KnownFields.requireFields(fileFields, options)
  return Layer.effect(
    RunLog,
    Effect.map(storage(options), (storage) => makeRunLog(options, storage))
  )
}
