/** The file of rejected rows, named by `--rejected` or beside the imported file, created only if there are any. */
import { type FileHeader, type ImportMapping, rejectedFile, type RejectedRow } from "@roster/domain"
import { rejectedMapping } from "@roster/domain/internal"
import { Effect, FileSystem, type Stream } from "effect"
import { text, toggle } from "../../../settings/FlagForms.ts"
import { Output } from "../../../terminal/Output.ts"
import { prepare, refuseTaken } from "../../../files/AtomicFile.ts"
import { usageError } from "../../../errors/UsageError.ts"
import { writeMapping } from "../../shared/MappingFlags.ts"

export const rejectedFlags = {
  rejected: text(
    "rejected",
    "Write rejected rows to this file, to correct and import them again (default: FILE.rejected.csv, or .ndjson)",
    "FILE"
  ),
  duplicates: text(
    "duplicates",
    "Write rows that are merged into another with their address to this file, with the lines of both",
    "FILE"
  ),
  force: toggle("force", "Overwrite the file of --rejected, --duplicates, --plan or --save-mapping if it exists")
}

const mappingOf = (rows: string): string => `${rows}.mapping.json`

/** The first free name beside a file, as is that of its mapping. Rows that are corrected and rejected again go to the next number. */
const freeName = Effect.fnUntraced(function* (file: string, { format }: FileHeader) {
  const fs = yield* FileSystem.FileSystem
  const stem = file.replace(/\.rejected(?:\.\d+)?\.(?:csv|ndjson)$/, "")
  for (let number = 1; ; number++) {
    const name = `${stem}.rejected${number === 1 ? "" : `.${number}`}.${format === undefined ? "csv" : "ndjson"}`
    if (!(yield* fs.exists(name)) && !(yield* fs.exists(mappingOf(name)))) return name
  }
})

/** Only a regular file has a folder for the rejected rows. */
const isFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return path !== "-" && (yield* fs.stat(path)).type === "File"
})

/** Writes the rejected rows of a report, and the mapping that they need. Returns the names of the files. */
export type KeepRejected = Effect.Success<ReturnType<typeof rejectedRowsOf>>

/** Opens the named file before anything is sent, so that a taken name is refused, and returns the writer of the rows. */
export const rejectedRowsOf = Effect.fnUntraced(function* (
  imported: string,
  to: { readonly rejected: string | undefined; readonly force: boolean }
) {
  const output = yield* Output
  const { rejected: named } = to
  if (named === "-") {
    return yield* usageError(
      "Stdout is used for the report of the import.",
      "Write the rows to a file with --rejected."
    )
  }
  const given = named === undefined ? undefined : { name: named, write: yield* prepare(named, to) }
  if (named !== undefined) yield* refuseTaken(mappingOf(named), to)
  const beside = yield* Effect.orElseSucceed(isFile(imported), () => false)

  const open = Effect.fnUntraced(function* (header: FileHeader) {
    if (given !== undefined || !beside) return given
    const name = yield* freeName(imported, header)
    return { name, write: yield* prepare(name, { force: false }) }
  })

  return Effect.fnUntraced(
    function* <E extends { readonly message: string }>(
      {
        header,
        mapping,
        rejected
      }: {
        readonly header: FileHeader | undefined
        readonly mapping: ImportMapping
        readonly rejected: number
      },
      rows: Stream.Stream<RejectedRow, E>
    ) {
      if (header === undefined || rejected === 0) return undefined
      const place = yield* open(header)
      if (place === undefined) return undefined
      yield* place.write(rejectedFile(header, rows))
      const needed = rejectedMapping(header, mapping)
      if (needed === undefined) return { rows: place.name, mapping: undefined }
      const name = mappingOf(place.name)
      yield* writeMapping(yield* prepare(name, { force: given !== undefined && to.force }), needed)
      return { rows: place.name, mapping: name }
    },
    Effect.catch((error) =>
      // The rows were accepted all the same, so the report matters more than this error.
      Effect.as(output.note(`warning: the rejected rows could not be written to a file. ${error.message}`), undefined)
    )
  )
})
