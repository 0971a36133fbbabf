/**
 * The log of runs as files of JSON lines in a folder of the user, one for each run. They hold personal data, so that the user
 * alone can read them, and they are kept for 30 days. Needs Node. (docs/decisions/runs.md)
 */
import { JsonParser } from "@roster/domain"
import { Clock, Duration, Effect, Layer, Result, Schema, Scope, Semaphore, Stream } from "effect"
import { hash } from "node:crypto"
import * as fs from "node:fs"
import * as files from "node:fs/promises"
import { join } from "node:path"
import { takeLock } from "./FileLock.ts"
import { RunEntry } from "./RunEntry.ts"
import {
  makeRunLog,
  RunHeader,
  RunLog,
  RunLogFailure,
  RunNotFound,
  type RunStorage,
  type RunWriter,
  type StoredRun,
  workOf
} from "./RunLog.ts"

export { takeLock } from "./FileLock.ts"
export type { RunStorage } from "./RunLog.ts"

/** Where the files stand, and how much of them is kept. */
export interface RunFilesOptions {
  /** The folder, which is created if it is missing, and closed to other users. */
  readonly folder: string
  /** The name of the service or store. */
  readonly target: string
  /** How long the record of a run is kept (default: 30 days). */
  readonly keptFor?: Duration.Input | undefined
  /** Maximum size of all records in bytes (default: 4 GiB). The oldest go first. */
  readonly maximumBytes?: number | undefined
}

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

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const failed = (cause: unknown): RunLogFailure =>
  cause instanceof RunLogFailure ? cause : new RunLogFailure({ detail: reasonOf(cause) })

const attempt = <A>(work: () => A): Effect.Effect<A, RunLogFailure> => Effect.try({ try: work, catch: failed })

const attemptAsync = <A>(work: () => Promise<A>): Effect.Effect<A, RunLogFailure> =>
  Effect.tryPromise({ try: work, catch: failed })

// Windows has neither these flags, nor owners or modes.
const { O_APPEND: append, O_CREAT: create, O_EXCL: exclusive, O_RDWR: readWrite } = fs.constants
const { O_NOFOLLOW: noFollow = 0, O_NONBLOCK: noWait = 0, O_RDONLY: readOnly } = fs.constants
const self = process.getuid?.()

/** Refuses what another user, or a link to another file, could have put in the place of a record. */
const refuseForeign = (path: string, stats: fs.Stats): void => {
  const problem =
    !stats.isFile() || stats.nlink > 1
      ? "is not a file of its own"
      : self !== undefined && stats.uid !== self
        ? "belongs to another user"
        : self !== undefined && (stats.mode & 0o022) !== 0
          ? "can be changed by other users"
          : undefined
  if (problem !== undefined) throw new RunLogFailure({ detail: `${path} ${problem}` })
}

/** Creates the folder if it is missing, and closes it to other users. */
const prepareFolder = (folder: string): void => {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { mode, uid } = fs.statSync(folder)
  if (self === undefined) return
  if (uid !== self) throw new RunLogFailure({ detail: `${folder} belongs to another user` })
  if ((mode & 0o077) !== 0) fs.chmodSync(folder, 0o700)
}

/** Makes a new name in a folder survive a power failure. */
const syncFolder = (folder: string): void => {
  if (process.platform === "win32") return
  const descriptor = fs.openSync(folder, readOnly)
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Where a line stands in its file. */
interface Place {
  readonly at: number
  readonly length: number
}

const openToRead = (file: string) =>
  Effect.acquireRelease(
    attemptAsync(async () => {
      const handle = await files.open(file, readOnly | noFollow | noWait)
      try {
        refuseForeign(file, await handle.stat())
        return handle
      } catch (cause) {
        await handle.close()
        throw cause
      }
    }),
    (handle) => Effect.promise(() => handle.close())
  )

const readAt = (handle: files.FileHandle, at: number, bytes: Uint8Array) =>
  attemptAsync(async () => {
    let done = 0
    for (let got = 1; got > 0 && done < bytes.length; done += got) {
      got = (await handle.read(bytes, done, bytes.length - done, at + done)).bytesRead
    }
    return new TextDecoder().decode(bytes.subarray(0, done))
  })

/** The whole lines of a file up to a size. A line that a killed process left incomplete is none. */
const placesOf = Effect.fnUntraced(function* (handle: files.FileHandle, size: number) {
  const places: Array<Place> = []
  const block = new Uint8Array(endBytes)
  let begin = 0
  for (let at = 0; at < size;) {
    const length = Math.min(block.length, size - at)
    const { bytesRead } = yield* attemptAsync(() => handle.read(block, 0, length, at))
    if (bytesRead === 0) break
    for (let end = block.indexOf(10); end >= 0 && end < bytesRead; end = block.indexOf(10, end + 1)) {
      places.push({ at: begin, length: at + end - begin })
      begin = at + end + 1
    }
    at += bytesRead
  }
  return places
})

/** What a record holds. Fails for one that is damaged, by the name of its file. */
const lookAt = Effect.fnUntraced(function* (file: string, upTo = Infinity) {
  const handle = yield* openToRead(file)
  const size = Math.min((yield* attemptAsync(() => handle.stat())).size, upTo)
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
        const handle = yield* openToRead(file)
        const places = order((yield* placesOf(handle, size)).slice(1))
        return Stream.mapEffect(
          Stream.fromIterable(places),
          Effect.fnUntraced(function* ({ at, length }) {
            const entry = decodeEntry(yield* readAt(handle, at, new Uint8Array(length)))
            return Result.isFailure(entry) ? yield* damaged : entry.success
          })
        )
      })
    )
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

/** Opens a record to append, of which an incomplete last line is removed. */
const openToAppend = (file: string) =>
  Effect.gen(function* () {
    const descriptor = yield* Effect.acquireRelease(
      attempt(() => fs.openSync(file, readWrite | append | noFollow | noWait)),
      (descriptor) => Effect.sync(() => fs.closeSync(descriptor))
    )
    const stats = fs.fstatSync(descriptor)
    yield* attempt(() => refuseForeign(file, stats))
    const handle = yield* openToRead(file)
    const last = (yield* placesOf(handle, stats.size)).at(-1)
    const bytes = last === undefined ? 0 : last.at + last.length + 1
    yield* attempt(() => fs.ftruncateSync(descriptor, bytes))
    return { bytes, descriptor }
  })

/** Creates a record, and no other file or link in its place. */
const createFile = (file: string) =>
  Effect.acquireRelease(
    attempt(() => fs.openSync(file, readWrite | append | create | exclusive | noFollow, 0o600)),
    (descriptor) => Effect.sync(() => fs.closeSync(descriptor))
  )

/** The storage of a log in a folder. */
export const storage = ({
  folder,
  keptFor = Duration.days(30),
  maximumBytes = 4 * 1024 ** 3
}: Omit<RunFilesOptions, "target">): Effect.Effect<RunStorage, RunLogFailure> => {
  const fileOf = (id: string) => join(folder, id + suffix)

  /** The ids of all runs, the newest first. */
  const ids = attempt(() =>
    fs
      .readdirSync(folder)
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))
      .filter(isId)
      .toSorted()
      .toReversed()
  )

  const take = (name: string): Effect.Effect<boolean, RunLogFailure, Scope.Scope> =>
    Effect.acquireRelease(
      attempt(() => takeLock(join(folder, `${hash("sha256", name).slice(0, 32)}.lock`))),
      (giveBack) => Effect.sync(() => giveBack?.())
    ).pipe(Effect.map((giveBack) => giveBack !== undefined))

  /** Whether somebody is at work on the run of a file. */
  const isGoingOn = Effect.fnUntraced(function* (file: string) {
    const run = yield* Effect.result(lookAt(file))
    return Result.isSuccess(run) && run.success.end === undefined && !(yield* take(workOf(run.success.header)))
  }, Effect.scoped)

  /** Removes the records that are too old, and the oldest of too many. */
  const removeOld = Effect.gen(function* () {
    const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(Duration.fromInputUnsafe(keptFor))
    let bytes = 0
    for (const id of yield* ids) {
      const file = fileOf(id)
      const stats = yield* attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }))
      bytes += stats?.size ?? 0
      const isKept = stats === undefined || (stats.mtimeMs >= oldest && bytes <= maximumBytes)
      if (!isKept && !(yield* isGoingOn(file))) yield* Effect.ignore(attempt(() => fs.rmSync(file, { force: true })))
    }
  })

  const write = Effect.fnUntraced(function* (header: RunHeader, isNew: boolean) {
    // The id names the file.
    if (!isId(header.id)) return yield* new RunLogFailure({ detail: "this is no id of a run" })
    const scope = yield* Effect.scope
    const file = fileOf(header.id)
    const flushing = yield* Semaphore.make(1)
    let open: { readonly descriptor: number; bytes: number } | undefined
    let broken: RunLogFailure | undefined
    let isFull = false
    /** How many lines are in the file, and on the disk. */
    let written = 0
    let synced = 0

    const put = (to: { readonly descriptor: number; bytes: number }, line: string) =>
      attempt(() => {
        const bytes = Buffer.from(`${line}\n`)
        fs.appendFileSync(to.descriptor, bytes)
        to.bytes += bytes.length
        written++
      })

    /** The file comes into being with the first entry. */
    const opened = Effect.gen(function* () {
      if (open !== undefined) return open
      if (!isNew) return (open = yield* Scope.provide(openToAppend(file), scope))
      yield* removeOld
      const begun = { descriptor: yield* Scope.provide(createFile(file), scope), bytes: 0 }
      yield* put(begun, encodeFirst({ run: "roster", version: 2, header }))
      yield* attempt(() => syncFolder(folder))
      return (open = begun)
    })

    /** Waits until so many lines are on the disk. Writers that wait together share a flush. */
    const flushed = ({ descriptor }: { readonly descriptor: number }, count: number) =>
      flushing.withPermit(
        Effect.suspend(() => {
          if (synced >= count) return Effect.void
          const upTo = written
          return Effect.callback<void, RunLogFailure>((resume) => {
            fs.fdatasync(descriptor, (error) => {
              if (error === null) synced = upTo
              resume(error === null ? Effect.void : Effect.fail(failed(error)))
            })
          })
        })
      )

    const writer: RunWriter = {
      write: (entry, isDurable) =>
        Effect.gen(function* () {
          // No line may follow an incomplete one.
          if (broken !== undefined) return yield* broken
          const to = yield* opened
          if (isFull && entry._tag !== "Ended") return
          const line = JSON.stringify(entry)
          isFull ||= to.bytes + line.length > maximumBytes
          const full: RunEntry = { _tag: "Unknown", what: "more changes than a record holds" }
          yield* put(to, isFull && entry._tag !== "Ended" ? JSON.stringify(full) : line)
          if (isDurable) yield* flushed(to, written)
        }).pipe(
          Effect.tapError((error) => Effect.sync(() => (broken ??= error))),
          Effect.uninterruptible
        )
    }
    return writer
  })

  return Effect.as(
    attempt(() => prepareFolder(folder)),
    {
      take,
      write,
      all: Effect.gen(function* () {
        const found = yield* Effect.forEach(yield* ids, (id) => Effect.result(lookAt(fileOf(id))))
        return found.flatMap((run) => (Result.isSuccess(run) ? [run.success] : []))
      }),
      find: Effect.fnUntraced(function* (id: string, size?: number) {
        if (!(yield* ids).includes(id)) return yield* new RunNotFound({ run: id })
        return yield* lookAt(fileOf(id), size)
      })
    }
  )
}

/** The log of runs in a folder. */
export const layer = ({ target, ...options }: RunFilesOptions): Layer.Layer<RunLog, RunLogFailure> =>
  Layer.effect(
    RunLog,
    Effect.map(storage(options), (storage) => makeRunLog(target, storage))
  )
