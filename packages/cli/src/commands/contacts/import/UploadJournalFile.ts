/** The journal beside an imported file, an append-only log of JSON lines. (docs/decisions/bulk-import.md) */
import { UploadEntry, type UploadJournal, UploadIdentity } from "@roster/workflows/former"
import { Effect, FileSystem, Option, Schema } from "effect"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { makeDurableLog } from "../../../files/DurableLog.ts"
import { readOptional, withLock } from "../../../files/FileLock.ts"
import { UsageError, usageError } from "../../../errors/UsageError.ts"

const Header = Schema.fromJsonString(
  Schema.Struct({
    journal: Schema.Literal("roster contacts import"),
    version: Schema.Literal(1),
    identity: UploadIdentity
  })
)
const Line = Schema.fromJsonString(UploadEntry)
const decodeHeader = Schema.decodeEffect(Header)
const encodeHeader = Schema.encodeEffect(Header)
const decodeLines = Schema.decodeEffect(Schema.Array(Line))
const encodeLine = Schema.encodeSync(Line)

const journalName = (file: string): string => `${file}.roster-journal`

/** The journal of an imported file. To write to it, a command must hold its lock. */
export const uploadJournalFile = Effect.fnUntraced(function* (imported: string) {
  const file = journalName(imported)
  const fs = yield* FileSystem.FileSystem
  const lines = yield* makeDurableLog(file)
  const journal: UploadJournal<UsageError> = {
    load: Effect.gen(function* () {
      const content = yield* readOptional(fs, file)
      if (Option.isNone(content)) return undefined
      const text = content.value.slice(0, content.value.lastIndexOf("\n") + 1)
      const [header, ...entered] = text.split("\n").slice(0, -1)
      if (header === undefined) return undefined
      if (text.length < content.value.length) lines.keep(new TextEncoder().encode(text).length)
      const read = Effect.all({ header: decodeHeader(header), entries: decodeLines(entered) })
      const { entries, header: first } = yield* Effect.mapError(read, () =>
        usageError(`${file} is not an import journal, or is damaged.`, "Start over with --restart.")
      )
      return { identity: first.identity, entries }
    }),
    begin: (identity) =>
      Effect.orDie(encodeHeader({ journal: "roster contacts import", version: 1, identity })).pipe(
        Effect.tap(lines.begin),
        Effect.flatMap((line) => lines.add(line, { isDurable: true })),
        Effect.andThen(lines.fsync)
      ),
    // Only answers have to survive a power failure; the note that a batch was sent does not.
    append: (entry) => Effect.suspend(() => lines.add(encodeLine(entry), { isDurable: entry._tag === "Answered" })),
    fsync: lines.fsync,
    clear: Effect.andThen(lines.close, Effect.mapError(fs.remove(file, { force: true }), fileProblem(file, "written")))
  }
  return journal
})

/** Runs an import with its journal, and refuses a concurrent import of the same file. */
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
    withLock(journalName(imported), run, `Another import of ${imported} is running.`),
    (error): error is UsageError & (E | UsageError) =>
      !began && error instanceof UsageError && error.code === "FileProblem",
    ({ message }) =>
      Effect.fail(
        usageError(
          `${message} An import writes a resume journal beside the file.`,
          "To import without a journal, add --no-journal."
        )
      )
  )
})
