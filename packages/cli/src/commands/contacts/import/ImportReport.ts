/** The reports of an import and of its plan. The counts always add up: what is indented below a count is of it. */
import { type FieldValue, type ImportMapping, type ImportWarning, type ServiceError } from "@roster/domain"
import { ContactColumns } from "@roster/domain/internal"
import {
  isWithinLimit,
  onlyFormWords,
  outcomeWords,
  type PlanSummary,
  recipientWords,
  type RejectionLimit,
  reportCounts,
  type RunReport,
  shellWord,
  type UploadSurvey
} from "@roster/workflows"
import { Effect } from "effect"
import { PartlyDone, UsageError } from "../../../errors/UsageError.ts"
import { flagWords, mapFlags } from "../../shared/FileAdvice.ts"
import { counted, countLines, countText, printable } from "../../../terminal/Printable.ts"

/** The rows that the mode leaves out, if there are any. */
const leftOutByMode = ({ leftOut = 0 }: { readonly leftOut?: number | undefined }): { readonly leftOut?: number } =>
  leftOut === 0 ? {} : { leftOut }

const shownRows = 20

const shownCauses = 10
const shownValues = 3

/** The rejected rows by cause: a cause of one row is that row. */
const causeWords = (
  { causes = [], rejectedRows }: Pick<PlanSummary, "causes" | "rejectedRows">,
  all: number,
  more: string
): ReadonlyArray<string> =>
  causes.length === 0
    ? rowWords(rejectedRows, all, more)
    : [
        ...causes.slice(0, shownCauses).flatMap(({ cause, column, count, first, values }) => {
          if (count === 1) return [printable(`line ${first.line}: ${first.reason}`)]
          const shown = values.slice(0, shownValues)
          const others = count - shown.reduce((sum, { count: of }) => sum + of, 0)
          const found = [
            ...shown.map(({ count: of, value }) => `${JSON.stringify(value)} (${countText(of)})`),
            ...(others > 0 && others < count ? [`others (${countText(others)})`] : [])
          ]
          const where = column === undefined ? "" : ` in column ${JSON.stringify(column)}`
          return [
            printable(`${countText(count)} rows: ${cause}`),
            ...(values.length === 0 ? [] : [printable(`  ${found.join(", ")}${where}`)]),
            printable(`  first in line ${first.line}${first.reason === cause ? "" : `: ${first.reason}`}`)
          ]
        }),
        ...(causes.length > shownCauses ? [`and ${causes.length - shownCauses} more causes${more}`] : [])
      ]

const rowWords = (rows: RunReport["rejectedRows"], all: number, more: string): ReadonlyArray<string> => [
  ...rows.slice(0, shownRows).map(({ line, reason }) => `line ${line}: ${printable(reason)}`),
  ...(all > shownRows ? [`and ${all - shownRows} more${more}`] : [])
]

/** The flag by which an import takes a word of a row for a value, behind the reason that asks for it. */
const withFlag = (reason: string, word: string | undefined): string => {
  const field = reason.slice(0, reason.indexOf(":"))
  return word === undefined || !reason.endsWith("a mapping says which of them it stands for")
    ? reason
    : `${reason}: --map-value '${`${field}:${word}=VALUE`.replaceAll("'", "'\\''")}'`
}

/** A report of an import whose reasons say by which flag a word is taken for a value. */
export const withFlags = <A extends Pick<PlanSummary, "causes" | "rejectedRows">>(report: A): A => {
  const words = new Map(report.rejectedRows.map(({ line, value }) => [line, value]))
  return {
    ...report,
    rejectedRows: report.rejectedRows.map((row) => ({ ...row, reason: withFlag(row.reason, row.value) })),
    ...(report.causes === undefined
      ? {}
      : {
          causes: report.causes.map((cause) => ({
            ...cause,
            first: { ...cause.first, reason: withFlag(cause.first.reason, words.get(cause.first.line)) }
          }))
        })
  }
}

const shownDuplicates = 3

/** Into which row others are merged; an import can write all of them. */
const duplicateWords = (
  { duplicateRows = [], duplicates }: Pick<PlanSummary, "duplicateRows" | "duplicates">,
  isImport: boolean
): ReadonlyArray<string> => {
  const shown = duplicateRows.slice(0, shownDuplicates)
  const more = duplicates - shown.length
  return [
    ...shown.map(({ line, winner }) => `line ${line}: merged into line ${winner}, which has the same address`),
    ...(shown.length === 0 || more === 0
      ? []
      : [`and ${more} more${isImport ? "; --duplicates FILE writes them" : ""}`])
  ]
}

/** The flags by which columns that say who wants mail become the status, with the words that were found. */
export const consentFlags = (
  consent: ReadonlyArray<ImportWarning>,
  header: ReadonlyArray<string>,
  mapping: ImportMapping
): ReadonlyArray<string> => {
  const statuses = ContactColumns.columnFields(header, mapping).filter(({ field }) => field === "Status")
  return consent.flatMap(({ column = "", words = {} }) => {
    // A word may mean something else in another column.
    const of = statuses.length + consent.length === 1 ? "Status" : ContactColumns.columnKey(header, column)
    return [
      ...mapFlags([[column, "Status"]]),
      ...Object.entries(words).flatMap(([word, status]) => flagWords("--map-value", `${of}:${word}=${status}`))
    ]
  })
}

const flagOf = ({ code, column = "", examples, field = "", kinds = [] }: ImportWarning): string => {
  if (code === "Nothing") {
    const signs = [...new Set(examples.map(({ value }) => value.trim()))]
    const flags = signs.map((sign) => `--map-value ${shellWord(`${column}:${sign}=`)}`)
    if (column.includes(":")) return "; --map-value takes it for nothing"
    if (signs.length > 0) return `; ${flags.join(" ")} takes ${signs.length === 1 ? "it" : "them"} for nothing`
  }
  if ((code === "Nothing" || code === "Escaped") && examples.length === 0)
    return "; --map gives the column another name"
  if (code === "Escaped") return "; export the file again without, or correct it"
  if (code === "Kind")
    return `; ${kinds.map((kind) => `--kind ${shellWord(`${column}=${kind}`)}`).join(" or ")} stores them as such`
  if (code === "Blanks") return "; --trim takes them off"
  if (code === "Decoding") return "; --encoding says how the file is read"
  if (code === "Heading") return `; if it means it: --map ${shellWord(`${column}=${field}`)}`
  if (code === "Consent") return `; if they are to get no mail: --map ${shellWord(`${column}=Status`)} and --map-value`
  if (code === "NoRows") return "; --min-rows refuses such a file"
  if (code === "DefaultStatus") return "; --set Status=VALUE gives it to all rows"
  return code === "Active" ? "; --default-status gives another" : ""
}

/** What is odd in the rows that an import takes. */
export const warningWords = (warnings: ReadonlyArray<ImportWarning> = [], isImport = true): ReadonlyArray<string> => [
  ...warnings.slice(0, shownCauses).flatMap((one) => {
    const { code, column, count, examples, warning } = one
    const [unit, units] = code === "Statuses" ? ["address", "addresses"] : ["row", "rows"]
    const rows = code === "NoRows" ? "the file" : count === 1 ? `1 ${unit}` : `${countText(count)} ${units}`
    const where =
      column === undefined ? rows : `column ${JSON.stringify(column)}${code === "Heading" ? "" : ` (${rows})`}`
    const shown = examples.map(({ line, value }) => `line ${line}: ${JSON.stringify(value)}`)
    return [
      printable(`warning: ${where}: ${warning}${isImport ? flagOf(one) : ""}`),
      ...(shown.length === 0 ? [] : [printable(`  ${shown.join(", ")}`)])
    ]
  }),
  ...(warnings.length > shownCauses
    ? [`and ${warnings.length - shownCauses} more warnings; use -o json to see them`]
    : [])
]

/** That contacts do not get the statuses of rows, and why. */
const notGiven = (count: number, ofRow: string, doNot: string, mayLift = true): string =>
  (count === 1
    ? `1 row${ofRow} has a status that its contact ${doNot} not get, since it has a stricter one or has confirmed`
    : `${count} rows${ofRow} have a status that their contacts ${doNot} not get, since they have a stricter one or have confirmed`) +
  (mayLift ? "; --resubscribe lifts all but Abuse:" : ":")

const keptWords = ({ keptStatuses, statusesKept }: RunReport, mayLift: boolean): ReadonlyArray<string> =>
  statusesKept === 0
    ? []
    : [
        notGiven(statusesKept, statusesKept === 1 ? " that is done" : " that are done", "did", mayLift),
        ...rowWords(
          keptStatuses.map(({ email, line, status }) => ({ line, reason: `${email} stays ${status}` })),
          statusesKept,
          "; use -o json to see them"
        )
      ]

/** The counts as lines; what is indented below a count is of it. */
const runLines = (report: RunReport): ReadonlyArray<string> => {
  const shown = reportCounts(report).map(
    ({ count, isPart, words }) => [`${isPart ? "  " : ""}${words}`, count] as const
  )
  const width = Math.max(...shown.map(([words]) => words.length))
  return shown.map(([words, count]) => `${words.padEnd(width)}  ${countText(count)}`)
}

/** The report of a run as text: the counts, and the first rows that are not done. */
export const runWords = (report: RunReport, command: string, rejectedFile?: string): string => {
  // Only these commands have the flags that are named.
  const isImport = command === "import"
  const mayLift = isImport || command === "update"
  return [
    ...runLines(report),
    ...causeWords(report, report.rejected, rejectedFile === undefined ? "; use -o json to see them" : ""),
    ...report.outdatedContacts.map(({ email, line }) =>
      printable(`${line === undefined ? "" : `line ${line}: `}${email} changed since the plan was made`)
    ),
    ...(report.outdated > report.outdatedContacts.length
      ? [`and ${report.outdated - report.outdatedContacts.length} more`]
      : []),
    ...duplicateWords(report, isImport),
    ...warningWords(report.warnings, isImport),
    ...keptWords(report, mayLift),
    ...(rejectedFile === undefined ? [] : [`The rejected rows are in ${printable(rejectedFile)}.`]),
    ...recipientWords(report, true)
  ].join("\n")
}

const shownFields = 20

const valueText = (value: FieldValue | null): string => (value === null ? "(none)" : JSON.stringify(value))

/** What the columns become, and the first contacts as they would be stored. */
const previewWords = ({ columns = [], firstContacts = [] }: PlanSummary): ReadonlyArray<string> => [
  ...(columns.length === 0 ? [] : ["columns"]),
  ...columns.slice(0, shownFields).map(({ column, field }) => printable(`  ${column} -> ${field ?? "(left out)"}`)),
  ...(columns.length > shownFields ? [`  and ${columns.length - shownFields} more columns`] : []),
  ...(firstContacts.length === 0 ? [] : ["first contacts, as they would be stored"]),
  ...firstContacts.map(({ contact, line }) =>
    printable(
      `  line ${line}: ${Object.entries(contact)
        // The lists are named once.
        .filter(([field]) => !field.startsWith("Lists."))
        .slice(0, shownFields)
        .map(([field, value]) => `${field} ${valueText(value)}`)
        .join(", ")}`
    )
  )
]

/** The summary of a plan as text: the changed fields, and the first changes with their old and new values. */
const planWords = (
  { alreadySo, changed, fields, keptStatuses, new: added, onlyForm = {}, onlyLists, sample, statusesKept }: PlanSummary,
  lists: ReadonlyArray<string>
): string => {
  const names = Object.entries(fields)
  const isMore = (count: number, shown: ReadonlyArray<unknown>, what: string) =>
    count > shown.length ? [`and ${count - shown.length} more${what}`] : []
  return [
    ...countLines({ new: added, changed, alreadySo }),
    ...(lists.length === 0 ? [] : [`lists       ${lists.map(printable).join(", ")}`]),
    ...names
      .slice(0, shownFields)
      .map(([field, count]) => printable(`  ${field}: ${counted(count)}${onlyFormWords(count, onlyForm[field])}`)),
    ...isMore(names.length, names.slice(0, shownFields), " fields"),
    ...sample.map(({ changes, email, line, onlyForm: forms = [] }) =>
      printable(
        `line ${line}: ${email}: ${Object.entries(changes)
          .map(
            ([field, [old, now]]) =>
              `${field} ${valueText(old)} -> ${valueText(now)}${forms.includes(field) ? " (only its form)" : ""}`
          )
          .join(", ")}`
      )
    ),
    ...isMore(changed, sample, " changes"),
    ...(statusesKept === 0 ? [] : [notGiven(statusesKept, "", statusesKept === 1 ? "does" : "do")]),
    ...keptStatuses.map(({ email, line, status }) => printable(`line ${line}: ${email} stays ${status}`)),
    ...isMore(statusesKept, keptStatuses, ""),
    ...(onlyLists === 0
      ? []
      : [
          `This interface does not show who is on a list, so ${onlyLists} of the rows that are already so are sent, too.`
        ])
  ].join("\n")
}

/** A plan, with the file that it was written to; without one, of a dry run. */
interface Planned {
  readonly target: string
  readonly summary: PlanSummary
  readonly lists: ReadonlyArray<string>
  readonly file: string | undefined
  /** The command that carries out the plan in the file. */
  readonly apply: string | undefined
}

/** The number of rows that an import would send. */
const toSend = ({ duplicates, leftOut = 0, read, rejected }: PlanSummary): number =>
  read - rejected - duplicates - leftOut

/** The report of a dry run or of a plan as JSON. */
export const plannedSummary = ({ file, lists, summary, target }: Planned) => ({
  ...(file === undefined ? { dryRun: true } : {}),
  target,
  toSend: toSend(summary),
  ...(file === undefined ? {} : { plan: file }),
  ...summary,
  lists
})

/** The report of a dry run or of a plan as text. */
export const plannedWords = ({ apply, file, lists, summary, target }: Planned): string => {
  const { duplicates, read, rejected } = summary
  return [
    ...countLines({
      target: printable(target),
      read,
      toSend: toSend(summary),
      rejected,
      duplicates,
      ...leftOutByMode(summary)
    }),
    ...(file === undefined ? previewWords(summary) : []),
    planWords(summary, lists),
    ...causeWords(summary, rejected, "; use -o json to see them"),
    ...duplicateWords(summary, true),
    ...warningWords(summary.warnings),
    "Nothing was sent.",
    ...(file === undefined || apply === undefined
      ? []
      : [printable(`The plan is in ${file}. To carry it out: ${apply}`)]),
    ...recipientWords(summary)
  ].join("\n")
}

/** Names the limit that too many rejected rows are beyond, if one was given. */
const beyond = (limit: RejectionLimit | undefined): string =>
  limit === undefined ? "" : ` --max-rejected allows ${"rows" in limit ? limit.rows : `${limit.percent}%`}.`

/** How a dry run ends: as the import would, as far as is known before it. */
export const plannedOutcome = Effect.fnUntraced(function* (summary: PlanSummary, limit?: RejectionLimit) {
  const { read, rejected } = summary
  if (!isWithinLimit(summary, limit)) {
    return yield* new PartlyDone({
      message: `${rejected} of ${read} rows would be rejected.${beyond(limit)}`,
      hint: rejected === read ? "Correct them." : "Correct them, or import the others without them."
    })
  }
})

/** The refusal of a file with warnings, for `--fail-on-warning`. */
export const refusedWarnings = (warnings: UploadSurvey["warnings"]): UsageError =>
  new UsageError({
    code: "Warnings",
    message: [
      warnings.length === 1 ? "The import would warn." : `The import would warn ${warnings.length} times.`,
      ...warningWords(warnings)
    ].join("\n"),
    hint: "Nothing was sent. Correct the file, or import it as it is without --fail-on-warning."
  })

/** The error if the file changed after some rows were sent. */
export const importChanged = (report: RunReport, { message }: { readonly message: string }): PartlyDone =>
  new PartlyDone({
    message: `${message} ${outcomeWords(report)}`,
    hint: "Run the import again when the file is complete: existing contacts are updated."
  })

/**
 * Succeeds, fails with `PartlyDone`, or with the failure of the service if this run had no row accepted. `again` is the command
 * that imports the file of rejected rows. What is still to do after a success is its result.
 */
export const importOutcome = Effect.fnUntraced(function* (
  report: RunReport,
  {
    again,
    limit,
    stoppedBy
  }: {
    readonly again?: string | undefined
    readonly limit?: RejectionLimit | undefined
    readonly stoppedBy?: ServiceError | undefined
  } = {}
) {
  const { done, notSent, rejected, unknown } = report
  if (stoppedBy !== undefined && done === 0) return yield* stoppedBy
  if (rejected + notSent + unknown === 0) return undefined
  const correct = again === undefined ? undefined : `Correct the rejected rows in their file and import it:\n  ${again}`
  if (notSent + unknown === 0 && isWithinLimit(report, limit)) return correct
  const why = stoppedBy === undefined ? "" : ` ${stoppedBy.message}`
  const message = `${outcomeWords(report, { stoppedBy })}${why}`
  if (notSent + unknown > 0) {
    return yield* new PartlyDone({ message, hint: "The same command resumes with the rows that have no answer." })
  }
  const refused = `${message}${beyond(limit)}`
  return yield* new PartlyDone(correct === undefined ? { message: refused } : { message: refused, hint: correct })
})
