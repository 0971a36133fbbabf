/** Which contacts a command works on: those with some addresses, typed or in a file, or those that a rule selects. */
import { canonicalEmail, type ContactFilter } from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { readAddresses, selectionWords } from "@roster/workflows"
import { Effect, Option } from "effect"
import { Argument, type Command } from "effect/cli"
import { refusedHere, usageError } from "../../errors/UsageError.ts"
import { text } from "../../settings/FlagForms.ts"
import { emails } from "./CommonFlags.ts"
import { unreadable } from "./FileAdvice.ts"
import { openImported } from "./ImportedFile.ts"
import { mappingOf, readingFlags } from "./MappingFlags.ts"
import { type GivenRule, givenRule, ruleFlags, twoRules } from "./RuleFlags.ts"

/** The file that names contacts, and how it is read. */
export const fileFlags = {
  file: text(
    "file",
    "Select the contacts whose addresses are in FILE: in the column Email of what an import reads, or one on each line; " +
      "- for stdin",
    "FILE"
  ),
  reading: readingFlags
}

/** The ways to select contacts. */
export const selectionFlags = {
  emails: Argument.variadic(emails),
  ...ruleFlags,
  ...fileFlags
}

/** Their heading in the help of a command. */
export const fileGroup = { "the file of addresses": ["file", "map", "sheet", "skip-lines", "no-header", "encoding"] }

/** Contacts by their addresses. */
export interface Named {
  readonly emails: ReadonlyArray<string>
  readonly file: string | undefined
  readonly reading: Command.Command.Config.Infer<typeof readingFlags>
}

export interface Selection extends Named, GivenRule {}

/** Whether contacts are selected by a rule. */
export const isByRule = ({ rawRule, rule }: GivenRule): boolean => rule !== undefined || rawRule !== undefined

/** Whether one contact is selected, by its address. */
export const isOne = (given: Selection): boolean =>
  given.emails.length === 1 && given.file === undefined && !isByRule(given)

/** What a run of a selection is of, in words: its file, or the selection without anybody's name. */
export const aboutSelection = ({ file }: Pick<Selection, "file">, filter: ContactFilter): string =>
  file ?? selectionWords(filter._tag === "ByRule" ? filter.rule : filter.emails.length)

/** The refusal of flags of a file without one, for `refuseFlags`. */
export const unreadFlags = ({ file, reading }: Named) => {
  const { columns, encoding, noHeader, sheet, skipLines } = reading
  return [
    file === undefined &&
      (columns.length > 0 || noHeader || [encoding, sheet, skipLines].some((given) => given !== undefined)),
    "--map, --sheet, --skip-lines, --no-header and --encoding say how the file of --file is read: name that too."
  ] as const
}

/** The refusals of two rules and of no way at all, for `refuseFlags`. */
export const selectionRefusals = (given: Selection, others = "") => {
  const isNamed = given.emails.length > 0 || given.file !== undefined
  return [
    twoRules(given),
    unreadFlags(given),
    [!isByRule(given) && !isNamed, `Name the contacts: by address, --file, --rule${others}.`]
  ] as const
}

/** The addresses in a file, which is read as an import reads it. */
const addressesIn = (file: string, { sheet, ...reading }: Selection["reading"]) =>
  Effect.gen(function* () {
    const opened = yield* openImported(file, sheet)
    const mapping = { ...(yield* mappingOf({ ...reading, mapping: undefined })), ...opened.mapping }
    return yield* Effect.catchTags(readAddresses(opened.digested, mapping), {
      UnreadableFile: (error) => unreadable(error, { file: opened, mapping })
    })
  }).pipe(
    Effect.scoped,
    Effect.catchTags({
      UnreadableFile: (error) => unreadable(error),
      InvalidInput: ({ field, issue }) =>
        Effect.fail(
          usageError(`${file}, ${field}: ${issue}. Nothing was done.`, "Correct the file; it names one contact a line.")
        )
    })
  )

/** The addresses that are typed and those in the file, each once; `undefined` if neither is given. */
export const namedAddresses = Effect.fnUntraced(function* ({ emails, file, reading }: Named) {
  if (emails.length === 0 && file === undefined) return undefined
  const ofFile = file === undefined ? [] : yield* addressesIn(file, reading)
  return [...new Map([...emails, ...ofFile].map((email) => [canonicalEmail(email), email])).values()]
})

/** The selected contacts; addresses each once. */
export const selected = Effect.fnUntraced(function* (given: Selection) {
  const filter = contactFilterFromInput({ rule: yield* givenRule(given), emails: yield* namedAddresses(given) })
  // Without any of them the command was refused.
  return Option.getOrThrow(yield* refusedHere(filter))
})
