/**
 * Where the rows go that an import rejected: the file that was named for them, or one beside the imported file. It comes
 * into being only where rows were rejected.
 */
import { rejectedFile, type RejectedRow } from "@roster/domain"
import { type UploadReport } from "@roster/workflows"
import { Effect, FileSystem, type Stream } from "effect"
import { text, toggle } from "../../shared/CommonFlags.ts"
import { Output } from "../../../terminal/Output.ts"
import { prepare } from "../../../files/AtomicFile.ts"
import { usageError } from "../../../errors/UsageError.ts"

export const rejectedFlags = {
  rejected: text(
    "rejected",
    "Write rejected rows to this file, to correct and import them again (default: FILE.rejected.csv)",
    "FILE"
  ),
  force: toggle("force", "Overwrite the file of --rejected if it exists")
}

/** The first name beside a file that nothing has. What is corrected and rejected once more gets the next number. */
const freeName = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const stem = file.replace(/\.rejected(?:\.\d+)?\.csv$/, "")
  for (let number = 1; ; number++) {
    const name = `${stem}.rejected${number === 1 ? "" : `.${number}`}.csv`
    if (!(yield* fs.exists(name))) return name
  }
})

/** A pipe has nothing beside it. */
const isFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return path !== "-" && (yield* fs.stat(path)).type === "File"
})

/**
 * Writes the rejected rows of an account where they go. The result is the name of the file, or `undefined` where there is none.
 */
export type KeepRejected = Effect.Success<ReturnType<typeof rejectedRowsOf>>

/**
 * Opens the way for the rows of a file that is imported, before anything is sent: a name that was given has to be free.
 * Gives the function that writes them, whose result is the name of the file, or `undefined` where there is none.
 */
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
  const beside = yield* Effect.orElseSucceed(isFile(imported), () => false)

  const open = Effect.gen(function* () {
    if (given !== undefined || !beside) return given
    const name = yield* freeName(imported)
    return { name, write: yield* prepare(name, { force: false }) }
  })

  return Effect.fnUntraced(
    function* <E extends { readonly message: string }>(
      { header, rejected }: Pick<UploadReport, "header" | "rejected">,
      rows: Stream.Stream<RejectedRow, E>
    ) {
      if (header === undefined || rejected === 0) return undefined
      const place = yield* open
      if (place === undefined) return undefined
      yield* place.write(rejectedFile(header, rows))
      return place.name
    },
    Effect.catch((error) =>
      // What was accepted is accepted: the account of it matters more.
      Effect.as(output.note(`warning: the rejected rows could not be written to a file. ${error.message}`), undefined)
    )
  )
})
