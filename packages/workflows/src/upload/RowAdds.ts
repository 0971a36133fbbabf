/** Adds the rows of a file in one pass. */
import { fnRedacted, type ImportRow, inputProblem, type KeptStatusRow } from "@roster/domain"
import { Effect, Stream } from "effect"
import { type BulkAddOptions, defaultAddConcurrency, makeBulkAdder } from "./BulkAdd.ts"
import { named, type NamedRejection, rejectionOf } from "../runs/Rejections.ts"
import type { RunReport } from "../runs/RunReport.ts"
import { batches } from "./UploadBatches.ts"
import { maximumNamedRows } from "./UploadSurvey.ts"

/** The rows whose contacts kept their status: their number, and the lines of up to 10,000. */
export const makeKeptStatusRows = () => {
  const rows: Array<KeptStatusRow> = []
  let count = 0
  return {
    add: ({ line, status }: KeptStatusRow) => {
      count++
      if (rows.length < maximumNamedRows) rows.push({ line, status })
    },
    report: () => ({ statusesKept: count, keptStatuses: rows.toSorted((one, other) => one.line - other.line) })
  }
}

/** The outcomes of `addRows`, as a report has them: read = done + rejected + notSent + unknown. An error ends the reading. */
export interface RowAddsReport extends Pick<
  RunReport,
  "read" | "done" | "rejected" | "rejectedRows" | "statusesKept" | "keptStatuses" | "notSent" | "unknown" | "stoppedBy"
> {}

/**
 * Adds the rows of a file in one pass, without survey and log: all duplicates are sent, and it cannot resume.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { addRows } from "@roster/workflows"
 * import { Stream } from "effect"
 *
 * const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))
 *
 * export const example = addRows(readContacts(file), { concurrency: 4 })
 * ```
 */
export const addRows = fnRedacted("addRows")(function* <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: BulkAddOptions = {}
) {
  const { concurrency = defaultAddConcurrency } = options
  const adder = yield* makeBulkAdder(options)
  const kept = makeKeptStatusRows()
  const counts = { Accepted: 0, Refused: 0, NotSent: 0, Unknown: 0 }
  const rejectedRows: Array<NamedRejection> = []
  const name = (row: NamedRejection) => {
    if (rejectedRows.length < maximumNamedRows) rejectedRows.push(row)
  }
  const onInvalid = (row: ImportRow, reason: string) => {
    counts.Refused++
    name(named(rejectionOf(row, reason)))
  }
  yield* batches(rows, { onInvalid }).pipe(
    Stream.takeWhileEffect(() => Effect.map(adder.stoppedBy, (error) => error === undefined)),
    Stream.mapEffect(
      ({ contacts, lines }) =>
        Effect.map(adder.send(contacts), (runs) => {
          let at = 0
          for (const { count, outcome } of runs) {
            counts[outcome._tag] += count
            const line = lines[at] ?? 0
            if (outcome._tag === "Refused") name({ line, reason: inputProblem(outcome.error) })
            if (outcome._tag === "Accepted" && outcome.keptStatus !== undefined) {
              kept.add({ line, status: outcome.keptStatus })
            }
            at += count
          }
        }),
      { concurrency, unordered: true }
    ),
    Stream.runDrain
  )
  const report: RowAddsReport = {
    read: counts.Accepted + counts.Refused + counts.NotSent + counts.Unknown,
    done: counts.Accepted,
    rejected: counts.Refused,
    rejectedRows: rejectedRows.sort((one, other) => one.line - other.line),
    ...kept.report(),
    notSent: counts.NotSent,
    unknown: counts.Unknown,
    stoppedBy: yield* adder.stoppedBy
  }
  return report
})
