/** The command of `roster` that does the same as a page or a program, made of its values. */
import { type AddMode, type AddOptions, type OnDuplicate, ListsText } from "@roster/domain"
import { KnownFields, modeFields, resubscribeIssue } from "@roster/domain/internal"

/** A command of `roster` with its values. */
export interface RosterCommand {
  /** Its name, such as `contacts update`. */
  readonly program: string
  /** Its arguments. */
  readonly given?: ReadonlyArray<string>
  /** Its flags by their names: `true` stands for the flag alone, a list for the flag with each value, `undefined` for none. */
  readonly values?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>
}

/** A word of a command line, in quotes where a shell needs them. */
export const shellWord = (word: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  // Double quotes read better around single ones, where nothing in them means something to a shell.
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The words of a command behind `roster`, as a shell hands them over. */
export const commandWords = ({ given = [], program, values = {} }: RosterCommand): ReadonlyArray<string> => [
  ...program.split(" "),
  ...given,
  ...Object.entries(values).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    if (value === undefined || value === false) return []
    if (value === true) return [flag]
    // A word that begins with a dash would be another flag.
    return [value].flat().flatMap((one) => (String(one).startsWith("-") ? [`${flag}=${one}`] : [flag, String(one)]))
  })
]

/** The value of `--resubscribe` that lifts these statuses. */
export const liftedValue = (resubscribe: AddOptions["resubscribe"]): string | boolean | undefined =>
  typeof resubscribe === "object" ? resubscribe.join(",") : resubscribe

/** The command line of a command, with the flags of its target. */
export const commandLine = (command: RosterCommand, target = ""): string =>
  ["roster", ...commandWords(command).map(shellWord), ...(target === "" ? [] : [target])].join(" ")

/** How a file is imported, as far as the command line has flags for it. */
export interface ImportCommandOptions extends AddMode {
  /** The lists that the contacts are put on. */
  readonly listNames?: ReadonlyArray<string> | undefined
  /** The statuses that are lifted. */
  readonly resubscribe?: AddOptions["resubscribe"]
  /** Which row of an address is imported (default: the last). */
  readonly onDuplicate?: OnDuplicate | undefined
  /** The sheet of a workbook. */
  readonly sheet?: string | undefined
  /** The file that says what the columns mean. */
  readonly mapping?: string | undefined
  /** Whether custom fields are made whose names are nearly those of other fields. */
  readonly newField?: boolean | undefined
  /** Whether a file with warnings is refused. */
  readonly failOnWarning?: boolean | undefined
  /** The file that the plan is written to. */
  readonly plan?: string | undefined
}

const importFields = KnownFields.fieldsOf<ImportCommandOptions>("the command", {
  ...modeFields,
  listNames: ListsText.listNamesIssue,
  resubscribe: resubscribeIssue,
  onDuplicate: true,
  sheet: true,
  mapping: true,
  newField: true,
  failOnWarning: true,
  plan: true
})

/**
 * The command that imports a file so. Throws `InvalidInput` for an unknown option.
 *
 * ```ts
 * import { commandLine, importCommand } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * const command = importCommand("customers.csv", { only: "existing", plan: "customers.plan" })
 *
 * export const example = Effect.log(commandLine(command))
 * ```
 */
export const importCommand = (file: string, options: ImportCommandOptions): RosterCommand => {
  KnownFields.requireFields(importFields, options)
  const { defaultStatus, failOnWarning, listNames, mapping, newField, onDuplicate, only, plan, resubscribe, sheet } =
    options
  return {
    program: "contacts import",
    given: [file],
    values: {
      sheet,
      mapping,
      list: listNames,
      newField,
      resubscribe: liftedValue(resubscribe),
      only,
      defaultStatus,
      onDuplicate: onDuplicate === "last" ? undefined : onDuplicate,
      failOnWarning,
      plan
    }
  }
}
