/** The records of runs in the user's state folder: a file of JSON lines for each, readable by its owner alone. */
import { JsonParser, StoreFailure } from "@roster/domain"
import { type RunCounts, RunEntry, RunHeader } from "@roster/workflows"
import { countsOf, noCounts, readAt, type RecordLog, sumOf } from "@roster/workflows/former"
import { DateTime, Duration, Effect, FileSystem, Option, Path, Schema, Stream } from "effect"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { usageError } from "../../../errors/UsageError.ts"
import { makeDurableLog } from "../../../files/DurableLog.ts"
import { removeOld } from "../../../files/Retention.ts"
import { stateFolder } from "../../../files/UserFolder.ts"
import { shorten } from "../../../terminal/Printable.ts"

/** How long the record of a run is kept. */
export const runsKeptFor = Duration.days(30)

/** Maximum size of all records in bytes; the oldest go first. A run that alone exceeds it is recorded up to there. */
export const maximumRunBytes = 4 * 1024 * 1024 * 1024

const Header = Schema.fromJsonString(
  Schema.Struct({ run: Schema.Literal("roster contacts"), version: Schema.Literal(1), header: RunHeader })
)
const encodeHeader = Schema.encodeSync(Header)
const decodeHeader = Schema.decodeUnknownEffect(Header)
const Line = JsonParser.fromJsonString(RunEntry)
/** An entry is JSON as it is. */
const encodeLine = (entry: RunEntry): string => JSON.stringify(entry)
const decodeLine = Schema.decodeUnknownEffect(Line)

const suffix = ".jsonl"

/** The folder of all records. */
const folder = stateFolder("runs")

/** A new id, which sorts by time. */
const newId = Effect.map(DateTime.now, (now) => {
  const time = DateTime.formatIso(now).replaceAll(/[-:.]/g, "")
  return `${time}-${crypto.randomUUID().slice(0, 4)}`
})

const isId = (text: string): boolean => /^\d{8}T\d{9}Z-[0-9a-f]{4}$/.test(text)

/** The files of all runs, the newest first. */
const files = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const all = yield* folder
  const names = yield* Effect.mapError(fs.readDirectory(all), fileProblem(all, "read"))
  return names
    .filter((name) => name.endsWith(suffix) && isId(name.slice(0, -suffix.length)))
    .toSorted()
    .toReversed()
    .map((name) => ({ id: name.slice(0, -suffix.length), file: path.join(all, name) }))
})

/** The record of a new run. Its file comes into being with the first change. */
export const newRun = Effect.fnUntraced(function* (given: Omit<RunHeader, "id" | "began">) {
  const path = yield* Path.Path
  yield* removeOld(
    (yield* files).map(({ file }) => file),
    { keptFor: runsKeptFor, maximumBytes: maximumRunBytes }
  )
  const id = yield* newId
  const header: RunHeader = { ...given, id, began: DateTime.formatIso(yield* DateTime.now) }
  const file = path.join(yield* folder, `${id}${suffix}`)
  const lines = yield* makeDurableLog(file)
  let bytes = 0
  let isFull = false
  const add = (line: string) =>
    Effect.suspend(() => {
      bytes += Buffer.byteLength(line) + 1
      return Effect.andThen(lines.add(line, { isDurable: true }), lines.fsync)
    })
  const begin = Effect.suspend(() =>
    bytes > 0
      ? Effect.void
      : Effect.andThen(
          lines.begin,
          Effect.suspend(() => add(encodeHeader({ run: "roster contacts", version: 1, header })))
        )
  )
  const log: RecordLog = {
    append: (entry) =>
      Effect.suspend(() => {
        if (isFull) return Effect.void
        const line = encodeLine(entry)
        isFull = bytes + line.length > maximumRunBytes
        const full: RunEntry = { _tag: "Unknown", what: "more changes than a record holds" }
        return Effect.andThen(begin, add(isFull ? encodeLine(full) : line))
      }).pipe(
        Effect.mapError(
          ({ message }) =>
            new StoreFailure({ detail: `what it changes cannot be recorded: ${message.replace(/\.$/, "")}` })
        )
      )
  }
  return { header, log, hasBegun: Effect.sync(() => bytes > 0) }
})

/** Where a line stands in its file. */
interface Place {
  readonly at: number
  readonly length: number
}

const countsAtEnd = ({ changed, created, deleted }: Extract<RunEntry, { readonly _tag: "Ended" }>): RunCounts => ({
  created,
  changed,
  deleted
})

/** The lines of a record. A line that a killed process left incomplete is none. */
const linesOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return fs.stream(file).pipe(
    Stream.mapAccum(
      () => new Uint8Array(0),
      (rest, piece) => {
        const bytes = new Uint8Array(rest.length + piece.length)
        bytes.set(rest)
        bytes.set(piece, rest.length)
        const lines: Array<Uint8Array> = []
        let start = 0
        for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
          lines.push(bytes.subarray(start, end))
          start = end + 1
        }
        return [bytes.slice(start), lines]
      }
    ),
    Stream.mapError(fileProblem(file, "read"))
  )
})

/** The record of a run. */
export const openRun = Effect.fnUntraced(function* (id: string) {
  const fs = yield* FileSystem.FileSystem
  const found = (yield* files).find((one) => one.id === id)
  if (found === undefined) {
    return yield* usageError(`There is no run ${shorten(id)}.`, "List the runs with: roster contacts runs")
  }
  const { file } = found
  const damaged = () =>
    usageError(`The record of the run ${id} is damaged.`, `Nothing was changed. Its file is ${file}`)
  const decoder = new TextDecoder()
  const places: Array<Place> = []
  let at = 0
  let first: string | undefined
  yield* Stream.runForEach(yield* linesOf(file), (line) =>
    Effect.sync(() => {
      if (first === undefined) first = decoder.decode(line)
      else places.push({ at, length: line.length })
      at += line.length + 1
    })
  )
  const { header } = yield* Effect.mapError(decodeHeader(first), damaged)
  const entriesAt = (places: ReadonlyArray<Place>) =>
    Stream.unwrap(
      Effect.map(Effect.mapError(fs.open(file), fileProblem(file, "read")), (opened) =>
        Stream.mapEffect(
          Stream.fromIterable(places),
          Effect.fnUntraced(function* ({ at, length }) {
            const line = yield* Effect.mapError(readAt(opened, at, new Uint8Array(length)), fileProblem(file, "read"))
            return yield* Effect.mapError(decodeLine(decoder.decode(line)), damaged)
          })
        )
      )
    )
  const entries = entriesAt(places)
  const [end] = yield* Stream.runCollect(entriesAt(places.slice(-1)))
  const isEnded = end?._tag === "Ended"
  const counts = isEnded
    ? countsAtEnd(end)
    : yield* Stream.runFold(
        entries,
        () => noCounts,
        (sum, entry) => sumOf(sum, countsOf(entry))
      )
  return { header, counts, isEnded, entries, backwards: entriesAt(places.toReversed()) }
})

/** More than the first line of a record takes, and than the last one of a run that ended by itself. */
const endBytes = 64 * 1024

/** What a run is and did, by the first and the last line of its record if it ended by itself. */
const lookAt = Effect.fnUntraced(function* ({ file, id }: { readonly id: string; readonly file: string }) {
  const fs = yield* FileSystem.FileSystem
  const opened = yield* fs.open(file)
  const size = Number((yield* opened.stat).size)
  const textAt = Effect.fnUntraced(function* (at: number) {
    const bytes = new Uint8Array(Math.min(endBytes, size - at))
    const got = Number(yield* opened.read(bytes, { position: BigInt(at) }))
    return new TextDecoder().decode(bytes.subarray(0, got))
  })
  const { header } = yield* decodeHeader((yield* textAt(0)).split("\n", 1)[0])
  const last = (yield* textAt(Math.max(0, size - endBytes))).split("\n").at(-2)
  const end = yield* Effect.option(decodeLine(last))
  if (Option.isNone(end) || end.value._tag !== "Ended") {
    const { counts } = yield* openRun(id)
    return { header, counts, isEnded: false }
  }
  return { header, counts: countsAtEnd(end.value), isEnded: true }
}, Effect.scoped)

/** All runs, the newest first. One whose record cannot be read is left out. */
export const allRuns = Effect.gen(function* () {
  const runs = yield* Effect.forEach(yield* files, (one) => Effect.option(lookAt(one)))
  return runs.flatMap((run) => (Option.isSome(run) ? [run.value] : []))
})

/** The id of the newest run on a service or store. */
export const lastRunOn = Effect.fnUntraced(function* (target: string) {
  for (const one of yield* files) {
    const run = yield* Effect.option(lookAt(one))
    if (Option.isSome(run) && run.value.header.target === target) return one.id
  }
  return yield* usageError(`There is no run on ${shorten(target)}.`, "List the runs with: roster contacts runs")
})
