/**
 * The account of an import. The counts always add up: read = accepted + rejected + duplicates + not sent + unknown.
 */
import type { UploadReport } from "@roster/domain"
import { Effect } from "effect"
import { PartlyDone } from "./PartlyDone.ts"
import { printable } from "./Printable.ts"

/**
 * For programs: the counts, and every rejected row.
 *
 * @category printing
 * @since 0.1.0
 */
export const importSummary = ({ accepted, duplicates, notSent, read, rejected, unknown }: UploadReport) => ({
  read,
  accepted,
  rejected: rejected.length,
  duplicates,
  notSent,
  unknown,
  rejectedRows: rejected
})

const shownRows = 20

/**
 * For people: the counts, and the first of the rejected rows.
 *
 * @category printing
 * @since 0.1.0
 */
export const importWords = (report: UploadReport): string => {
  const { accepted, duplicates, notSent, read, rejected, unknown } = report
  const counts: ReadonlyArray<readonly [string, number]> = [
    ["read", read],
    ["accepted", accepted],
    ["rejected", rejected.length],
    ["duplicates", duplicates],
    ["not sent", notSent],
    ["unknown", unknown]
  ]
  const hidden = rejected.length - shownRows
  return [
    ...counts.map(([name, count]) => `${name.padEnd(10)}  ${count}`),
    ...rejected.slice(0, shownRows).map(({ line, reason }) => `line ${line}: ${printable(reason)}`),
    ...(hidden > 0 ? [`and ${hidden} more; -o json has them all`] : [])
  ].join("\n")
}

/**
 * How the command ends. Where a failure of the service stopped it before anything was accepted, that failure is the
 * answer; otherwise it is done, wholly or in part.
 *
 * @category programs
 * @since 0.1.0
 */
export const importOutcome = Effect.fnUntraced(function* (report: UploadReport) {
  const { accepted, notSent, read, rejected, stoppedBy, unknown } = report
  if (stoppedBy !== undefined && accepted === 0) return yield* stoppedBy
  if (rejected.length + notSent + unknown === 0) return
  const why = stoppedBy === undefined ? "" : ` ${stoppedBy.message}`
  return yield* new PartlyDone({
    message: `${accepted} of ${read} rows were accepted, ${rejected.length} rejected, ${notSent} not sent, ${unknown} have no answer.${why}`
  })
})
