/** Refusals of files that cannot be read as they are, each with the command line by which they can. */
import type { UnreadableFile } from "@roster/domain"
import { shellWord } from "@roster/workflows"
import { Effect } from "effect"
import { UsageError } from "../../errors/UsageError.ts"
import { printable } from "../../terminal/Printable.ts"
import { resumeCommand } from "../../terminal/ResumeHint.ts"
import type { ImportedFile } from "./ImportedFile.ts"

/** Fails with the command line that maps the columns of a header that are nearly fields. Nothing has been sent. */
export const nearlyFields = Effect.fnUntraced(function* (
  likely: ReadonlyArray<readonly [column: string, field: string]>,
  message = `${looks(likely)}; nothing was sent.`
) {
  const [column] = likely.find(([, field]) => field !== "Email") ?? []
  const own = column === undefined ? "" : `\n  or keep one as a custom field: --map ${shellWord(`${column}=${column}`)}`
  return yield* new UsageError({
    code: "NearlyFields",
    message,
    hint: `Read them as these fields: ${yield* resumeCommand([], mapFlags(likely))}${own}`
  })
})

export const looks = (likely: ReadonlyArray<readonly [column: string, field: string]>): string =>
  likely.map(([column, field]) => `${printable(column)} looks like ${field}`).join(", ")

export const mapFlags = (columns: ReadonlyArray<readonly [column: string, field: string]>): ReadonlyArray<string> =>
  columns.flatMap(([column, field]) => ["--map", `${column}=${field}`])

/** Fails with the command line by which a file can be read, if the error or another sheet says how. Nothing has been sent. */
export const unreadable = Effect.fnUntraced(function* (error: UnreadableFile, file?: ImportedFile) {
  const { encoding, header, likelyFields, skipLines } = error
  if (likelyFields !== undefined) return yield* nearlyFields(Object.entries(likelyFields), error.message)
  const flags =
    skipLines !== undefined
      ? ["--skip-lines", String(skipLines)]
      : encoding !== undefined
        ? ["--encoding", encoding]
        : header === false
          ? ["--no-header"]
          : undefined
  const [sheet] = file === undefined || flags !== undefined ? [] : yield* file.otherSheets
  if (sheet !== undefined) {
    return yield* new UsageError({
      code: "UnreadableFile",
      message: `${error.message} The sheet ${JSON.stringify(printable(sheet))} has addresses.`,
      hint: `Read that one: ${yield* resumeCommand([], ["--sheet", sheet], "--sheet")}`
    })
  }
  const hint =
    flags === undefined
      ? "Nothing was sent. Correct the file, or set how to read it: --encoding, --skip-lines, --sheet, --map COLUMN=Email."
      : `If that is so: ${yield* resumeCommand([], flags)}`
  return yield* new UsageError({ code: "UnreadableFile", message: error.message, hint })
})
