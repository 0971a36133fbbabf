/**
 * Refusals of files that cannot be read as they are, each with the command line by which they can. What a command line says of a
 * file was tried with that file before it is shown.
 */
import type { ImportMapping, UnreadableFile } from "@roster/domain"
import { likelyReading } from "@roster/domain/internal"
import { shellWord } from "@roster/workflows"
import { Effect } from "effect"
import { UsageError } from "../../errors/UsageError.ts"
import { printable } from "../../terminal/Printable.ts"
import { resumeCommand } from "../../terminal/ResumeHint.ts"
import type { ImportedFile } from "./ImportedFile.ts"

/** Columns with the fields that they probably mean; null for one that is to be left out. */
type Likely = ReadonlyArray<readonly [column: string, field: string | null]>

/** What columns look like, in words. */
export const looks = (likely: Likely): string =>
  likely.map(([column, field]) => `${printable(column)} looks like ${field ?? "nothing"}`).join(", ")

/** A flag with its value as words, or as one where the value would be taken for another flag. */
export const flagWords = (flag: string, value: string): ReadonlyArray<string> =>
  value.startsWith("-") ? [`${flag}=${value}`] : [flag, value]

/** The flags that map columns. */
export const mapFlags = (columns: Likely): ReadonlyArray<string> =>
  columns.flatMap(([column, field]) => flagWords("--map", `${column}=${field ?? ""}`))

/** How one of the columns is kept as a custom field instead. */
const keeping = (likely: Likely): string => {
  const [column] = likely.find(([, field]) => field !== null && field !== "Email") ?? []
  return column === undefined
    ? ""
    : `\n  or keep one as a custom field: ${mapFlags([[column, column]])
        .map(shellWord)
        .join(" ")}`
}

/** Fails with the command line that maps the columns of a header that are nearly fields. Nothing has been sent. */
export const nearlyFields = Effect.fnUntraced(function* (likely: Likely) {
  return yield* new UsageError({
    code: "NearlyFields",
    message: `${looks(likely)}; nothing was sent.`,
    hint: `Read them as these fields: ${yield* resumeCommand([], mapFlags(likely))}${keeping(likely)}`
  })
})

/** The flags that say what one mapping says beside another, and the names of those that a command line has once. */
const flagsBeside = (before: ImportMapping, after: ImportMapping) => {
  const single = ([name, value, was]: readonly [string, string | number | undefined, string | number | undefined]) =>
    value === undefined || value === was ? [] : [`--${name}`, String(value)]
  const columns = Object.entries(after.columns ?? {}).filter(([column]) => before.columns?.[column] === undefined)
  return {
    columns,
    others: [
      ...single(["encoding", after.encoding, before.encoding]),
      ...single(["skip-lines", after.skipLines, before.skipLines]),
      ...(after.header === false && before.header !== false ? ["--no-header"] : [])
    ]
  }
}

/** A file, and what was said of it. */
interface Opened {
  readonly file: ImportedFile
  readonly mapping: ImportMapping
}

/** Fails with the command line by which a file can be read, if its errors or another sheet say how. Nothing has been sent. */
export const unreadable = Effect.fnUntraced(function* (error: UnreadableFile, opened?: Opened) {
  const { message } = error
  if (opened !== undefined) {
    const { file, mapping } = opened
    const found = yield* likelyReading(file.digested, mapping)
    const { columns, others } = flagsBeside(mapping, found.mapping)
    if (found.isRead && columns.length + others.length > 0) {
      const command = yield* resumeCommand([], [...others, ...mapFlags(columns)], "--encoding", "--skip-lines")
      return yield* others.length === 0
        ? new UsageError({
            code: "NearlyFields",
            message,
            hint: `Read them as these fields: ${command}${keeping(columns)}`
          })
        : new UsageError({ code: "UnreadableFile", message, hint: `If that is so: ${command}${keeping(columns)}` })
    }
    const [sheet] = yield* file.otherSheets
    if (sheet !== undefined) {
      return yield* new UsageError({
        code: "UnreadableFile",
        message: `${message} The sheet ${JSON.stringify(printable(sheet))} has addresses.`,
        hint: `Read that one: ${yield* resumeCommand([], ["--sheet", sheet], "--sheet")}`
      })
    }
  }
  return yield* new UsageError({
    code: "UnreadableFile",
    message,
    hint: "Nothing was sent. Correct the file, or set how to read it: --encoding, --skip-lines, --sheet, --map COLUMN=Email."
  })
})
