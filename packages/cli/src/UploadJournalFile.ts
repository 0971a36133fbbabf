/**
 * The journal of an import, beside the imported file: `FILE.roster-journal`, for this user alone, lines of JSON that are only
 * ever added. A line that a dying process left unfinished counts for nothing. (docs/decisions/bulk-import.md)
 */
import { UploadEntry, type UploadJournal, UploadSubject } from "@roster/domain"
import { Effect, FileSystem, Option, Schedule, Schema, Semaphore } from "effect"
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
const encodeLine = Schema.encodeEffect(Line)

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

  const write = (text: string, flag: "a" | "w", options: { readonly sync: boolean }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const open = yield* fs.open(file, { flag, mode: 0o600 })
        yield* open.writeAll(new TextEncoder().encode(`${text}\n`))
        if (options.sync) yield* open.sync
      })
    ).pipe(Effect.mapError(refusal))

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
        write(line, "w", { sync: true })
      ),
    append: (entry) =>
      one.withPermit(
        Effect.gen(function* () {
          if (whole !== undefined) yield* Effect.mapError(fs.truncate(file, whole), refusal)
          whole = undefined
          // That a part is under way is a note for whoever reads it; what has an answer has to survive.
          yield* write(yield* Effect.orDie(encodeLine(entry)), "a", { sync: entry._tag === "Answered" })
        })
      ),
    clear: Effect.mapError(fs.remove(file, { force: true }), refusal)
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
  const run = Effect.flatMap(uploadJournalFile(imported), (journal) => {
    began = true
    return use(journal)
  })
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
