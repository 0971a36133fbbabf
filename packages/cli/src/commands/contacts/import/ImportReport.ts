/** The report of an import. The counts always add up: read = accepted + rejected + duplicates + not sent + unknown. */
import type { UploadSurvey } from "@roster/workflows"
import type { PlanSummary, UploadReport } from "@roster/workflows/former"
import { Effect } from "effect"
import { PartlyDone, UsageError } from "../../../errors/UsageError.ts"
import { printable } from "../../../terminal/Printable.ts"
import { planSummary, planWords } from "./PlanReport.ts"

/** The number of rejected rows that the report does not list. */
const unnamed = ({ rejected, rejectedRows }: Pick<UploadReport, "rejected" | "rejectedRows">): number =>
  rejected - rejectedRows.length

/** What the run of an import did, as far as it was recorded. */
export interface ImportedBy {
  readonly run: string
  readonly created: number
  readonly changed: number
}

/** The accepted rows of this run by what they did. */
const effects = ({ accepted, acceptedEarlier }: UploadReport, { changed, created, run }: ImportedBy) => ({
  run,
  new: created,
  changed,
  unchanged: accepted - acceptedEarlier - created - changed
})

/** The report as JSON: the counts, up to 10 000 rejected rows, and the file with their cells, if one was written. */
export const importSummary = (report: UploadReport, rejectedFile?: string, by?: ImportedBy) => {
  const { accepted, acceptedEarlier, duplicates, keptStatuses, notSent, read, rejected, rejectedRows, statusesKept } =
    report
  const { unknown } = report
  return {
    read,
    accepted,
    ...(acceptedEarlier === 0 ? {} : { acceptedEarlier }),
    rejected,
    duplicates,
    notSent,
    unknown,
    ...(statusesKept === 0 ? {} : { statusesKept, keptStatuses }),
    ...(by === undefined ? {} : effects(report, by)),
    ...(rejectedFile === undefined ? {} : { rejectedFile }),
    ...(unnamed(report) === 0 ? {} : { rejectedRowsLeftOut: unnamed(report) }),
    rejectedRows
  }
}

const shownRows = 20

const rowWords = (rows: UploadReport["rejectedRows"], all: number, more: string): ReadonlyArray<string> => [
  ...rows.slice(0, shownRows).map(({ line, reason }) => `line ${line}: ${printable(reason)}`),
  ...(all > shownRows ? [`and ${all - shownRows} more${more}`] : [])
]

const keptWords = ({ keptStatuses, statusesKept }: UploadReport): ReadonlyArray<string> =>
  statusesKept === 0
    ? []
    : [
        statusesKept === 1
          ? "1 accepted row would have resubscribed its contact, who kept the status; --resubscribe allows it:"
          : `${statusesKept} accepted rows would have resubscribed their contacts, who kept their status; ` +
            "--resubscribe allows it:",
        ...rowWords(
          keptStatuses.map(({ line, status }) => ({ line, reason: `stays ${status}` })),
          statusesKept,
          "; use -o json to see them"
        )
      ]

const countWords = (counts: ReadonlyArray<readonly [string, number | string]>): ReadonlyArray<string> =>
  counts.map(([name, count]) => `${name.padEnd(10)}  ${count}`)

const effectWords = (report: UploadReport, by: ImportedBy | undefined): ReadonlyArray<readonly [string, number]> => {
  if (by === undefined) return []
  const { changed, new: created, unchanged } = effects(report, by)
  return [
    ["new", created],
    ["changed", changed],
    ["unchanged", unchanged]
  ]
}

/** The report as text: the counts, and the first rejected rows. */
export const importWords = (report: UploadReport, rejectedFile?: string, by?: ImportedBy): string => {
  const { accepted, acceptedEarlier, duplicates, notSent, read, rejected, rejectedRows, unknown } = report
  return [
    ...countWords([
      ["read", read],
      ["accepted", acceptedEarlier === 0 ? accepted : `${accepted}, ${acceptedEarlier} of them in an earlier run`],
      ...effectWords(report, by),
      ["rejected", rejected],
      ["duplicates", duplicates],
      ["not sent", notSent],
      ["unknown", unknown]
    ]),
    ...rowWords(rejectedRows, rejected, rejectedFile === undefined ? "; use -o json to see them" : ""),
    ...keptWords(report),
    ...(rejectedFile === undefined
      ? []
      : [`The rejected rows are in ${printable(rejectedFile)}: correct them and import that file.`])
  ].join("\n")
}

/** A plan, with the file that it was written to, or of a dry run. */
export interface Planned {
  readonly summary: PlanSummary
  readonly lists: ReadonlyArray<string>
  readonly resubscribe: boolean
  readonly file: string | undefined
  /** The command that carries out the plan in the file. */
  readonly apply: string | undefined
}

/** The report of a dry run or of a plan as JSON. */
export const plannedSummary = (report: UploadReport, target: string, planned?: Planned) => ({
  ...(planned?.file === undefined ? { dryRun: true } : {}),
  target,
  toSend: report.notSent,
  ...(planned === undefined ? {} : planSummary(planned.summary, planned.lists, planned.file)),
  ...importSummary(report)
})

/** The report of a dry run or of a plan as text. */
export const plannedWords = (report: UploadReport, target: string, planned?: Planned): string => {
  const { acceptedEarlier, duplicates, notSent, read, rejected, rejectedRows } = report
  return [
    ...countWords([
      ["target", printable(target)],
      ["read", read],
      ["to send", notSent],
      ...(acceptedEarlier === 0 ? [] : ([["accepted", `${acceptedEarlier} in an earlier run`]] as const)),
      ["rejected", rejected],
      ["duplicates", duplicates]
    ]),
    ...(planned === undefined ? [] : [planWords(planned.summary, planned.lists, planned.resubscribe)]),
    ...rowWords(rejectedRows, rejected, "; use -o json to see them"),
    "Nothing was sent.",
    ...(planned?.file === undefined || planned.apply === undefined
      ? []
      : [printable(`The plan is in ${planned.file}. To carry it out: ${planned.apply}`)])
  ].join("\n")
}

/** The refusal of a file with invalid rows, for `--on-invalid stop`. */
export const invalidRows = ({ firstInvalid, invalid }: UploadSurvey): UsageError =>
  new UsageError({
    code: "InvalidRows",
    message: [
      invalid === 1 ? "1 row cannot be imported." : `${invalid} rows cannot be imported.`,
      ...rowWords(firstInvalid, invalid, "")
    ].join("\n"),
    hint: "Nothing was sent. Correct the rows, or skip them with --on-invalid skip."
  })

const sumWords = ({ accepted, notSent, read, rejected, stoppedBy, unknown }: UploadReport): string => {
  // The rows of a request that was refused as a whole were sent, though the service kept none of them.
  const how =
    stoppedBy?.reason._tag === "Rejected" ? "not sent, or sent in a request that the service refused" : "not sent"
  return `${accepted} of ${read} rows were accepted, ${rejected} rejected, ${notSent} ${how}, ${unknown} have no answer.`
}

/** The error if the file changed after some rows were sent. */
export const importChanged = (
  report: UploadReport,
  { message }: { readonly message: string },
  hasJournal: boolean
): PartlyDone =>
  new PartlyDone({
    message: `${message} ${sumWords(report)}`,
    hint:
      `Run the import again${hasJournal ? " with --restart" : ""} when the file is complete: existing contacts ` +
      "are updated."
  })

/** Succeeds, fails with `PartlyDone`, or with the failure of the service if this run had no row accepted. */
export const importOutcome = Effect.fnUntraced(function* (report: UploadReport) {
  const { accepted, acceptedEarlier, notSent, rejected, stoppedBy, unknown } = report
  if (stoppedBy !== undefined && accepted === acceptedEarlier) return yield* stoppedBy
  if (rejected + notSent + unknown === 0) return
  const why = stoppedBy === undefined ? "" : ` ${stoppedBy.message}`
  return yield* new PartlyDone({ message: `${sumWords(report)}${why}` })
})
