/**
 * The journal of an import, beside the imported file: `FILE.roster-journal`, for this user alone, lines of JSON that are only
 * ever added. A line that a dying process left unfinished counts for nothing. (docs/decisions/bulk-import.md)
 */
import { UploadEntry, type UploadJournal, UploadSubject } from "@roster/domain"
import { Effect, Exit, FileSystem, Option, Schedule, Schema, Scope, Semaphore } from "effect"
import { fileProblem } from "./FileProblem.ts"
import { readKept, withLock } from "./KeptFile.ts"
import { UsageError, usageError } from "./UsageError.ts"

const Header = Schema.fromJsonString(
  Schema.Struct({
    journal: Schema.Literal("roster contacts import"),
    version: Schema.Literal(1),
    subject: UploadSubject
  })
)
const Line = Schema.fromJsonString(UploadEntry)
const decodeHeader = Schema.decodeEffect(Header)
const encodeHeader = Schema.encodeEffect(Header)
const decodeLines = Schema.decodeEffect(Schema.Array(Line))
const encodeLine = Schema.encodeSync(Line)

/**
 * @category files
 * @since 0.1.0
 */
export const journalName = (file: string): string => `${file}.roster-journal`

/**
 * The journal of an imported file, for a command that has the lock of it or only looks.
 *
 * @category files
 * @since 0.1.0
 */
export const uploadJournalFile = Effect.fnUntraced(function* (imported: string) {
  const file = journalName(imported)
  const fs = yield* FileSystem.FileSystem
  const one = yield* Semaphore.make(1)
  const refusal = fileProblem(file, "written")
  /** How much of the file is whole lines. */
  let whole: number | undefined
  /** Lines that wait while others are forced to the disk: they go there together. */
  let waiting: Array<string> = []
  let isSynced = false
  /** What ended the writing: behind a line that is not whole there is no place for others. */
  let broken: UsageError | undefined
  /** How many lines there have been, and how many of them have been written. */
  let given = 0
  let written = 0

  /** The file as it is written to, open from the first line to the end. */
  let open: { readonly content: FileSystem.File; readonly scope: Scope.Closeable } | undefined
  const close = Effect.suspend(() => {
    const scope = open?.scope
    open = undefined
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })
  yield* Effect.addFinalizer(() => close)

  const opened = Effect.fnUntraced(function* (flag: "a" | "w") {
    const scope = yield* Scope.make()
    const content = yield* Scope.provide(fs.open(file, { flag, mode: 0o600 }), scope)
    return (open = { content, scope })
  })

  const write = (lines: ReadonlyArray<string>, flag: "a" | "w", options: { readonly sync: boolean }) =>
    Effect.gen(function* () {
      if (flag === "w") yield* close
      const { content } = open ?? (yield* opened(flag))
      yield* content.writeAll(new TextEncoder().encode(`${lines.join("\n")}\n`))
      if (options.sync) yield* content.sync
    }).pipe(Effect.mapError(refusal))

  const writeWaiting = Effect.gen(function* () {
    if (broken !== undefined) return yield* broken
    const lines = waiting
    const sync = isSynced
    waiting = []
    isSynced = false
    if (whole !== undefined) yield* Effect.mapError(fs.truncate(file, whole), refusal)
    whole = undefined
    yield* write(lines, "a", { sync })
    written += lines.length
  }).pipe(
    Effect.tapError((error) =>
      Effect.sync(() => {
        broken = error
      })
    )
  )

  const journal: UploadJournal<UsageError> = {
    load: Effect.gen(function* () {
      const content = yield* readKept(fs, file)
      if (Option.isNone(content)) return undefined
      const text = content.value.slice(0, content.value.lastIndexOf("\n") + 1)
      const [header, ...lines] = text.split("\n").slice(0, -1)
      if (header === undefined) return undefined
      if (text.length < content.value.length) whole = new TextEncoder().encode(text).length
      const read = Effect.all({ header: decodeHeader(header), entries: decodeLines(lines) })
      const { entries, header: first } = yield* Effect.mapError(read, () =>
        usageError(`${file} is not the journal of an import, or is damaged.`, "Begin anew with --restart.")
      )
      return { subject: first.subject, entries }
    }),
    begin: (subject) =>
      Effect.flatMap(Effect.orDie(encodeHeader({ journal: "roster contacts import", version: 1, subject })), (line) =>
        write([line], "w", { sync: true })
      ),
    append: (entry) =>
      Effect.suspend(() => {
        waiting.push(encodeLine(entry))
        const number = ++given
        // That a part is under way is a note for whoever reads it, and waits for nobody: it is there before its answer is,
        // which has to survive.
        if (entry._tag === "Sending") return Effect.asVoid(one.withPermitsIfAvailable(1)(writeWaiting))
        isSynced = true
        return one.withPermit(Effect.suspend(() => (written >= number ? Effect.void : writeWaiting)))
      }),
    clear: Effect.andThen(close, Effect.mapError(fs.remove(file, { force: true }), refusal))
  }
  return journal
})

/** Nobody waits for an import to end; the second look is for a lock that a dead one left. */
const onceMore = Schedule.recurs(1)

/**
 * Runs an import with its journal. A second import of the same file is refused meanwhile.
 *
 * @category files
 * @since 0.1.0
 */
export const withUploadJournal = Effect.fnUntraced(function* <A, E, R>(
  imported: string,
  use: (journal: UploadJournal<UsageError>) => Effect.Effect<A, E, R>
) {
  let began = false
  const run = Effect.scoped(
    Effect.flatMap(uploadJournalFile(imported), (journal) => {
      began = true
      return use(journal)
    })
  )
  return yield* Effect.catchIf(
    withLock(journalName(imported), run, { schedule: onceMore, message: `Another import of ${imported} runs.` }),
    (error): error is UsageError & (E | UsageError) =>
      !began && error instanceof UsageError && error.code === "FileProblem",
    ({ message }) =>
      Effect.fail(
        usageError(`${message} An import keeps a journal beside the file.`, "Add --no-journal to go without.")
      )
  )
})
