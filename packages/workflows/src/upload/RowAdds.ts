/**
 * Adding the rows of a file in one pass, as they come: no first look, so that of an address that stands there twice both rows
 * are sent, in their order or not, and no journal. `uploadContacts` has both.
 */
import { Effect, Stream } from "effect"
import { defaultAddConcurrency, makeBulkAdder } from "./BulkAdd.ts"
import { type ImportRow, fnRedacted, type RejectedRow, type ServiceError } from "@roster/domain"
import { batches } from "./UploadBatches.ts"
import { maximumNamedRows } from "./UploadSurvey.ts"

/**
 * What became of the rows: read = accepted + rejected + notSent + unknown. Where something about the service ended it, the rest
 * of the file was not read.
 */
export interface RowAddsReport {
  readonly read: number
  readonly accepted: number
  /** Refused by our own check or by the service. */
  readonly rejected: number
  /** Some of them, in the order of the file, 10 000 at most. */
  readonly rejectedRows: ReadonlyArray<Omit<RejectedRow, "cells">>
  readonly notSent: number
  /** Rows that were sent and have no answer. */
  readonly unknown: number
  readonly stoppedBy: ServiceError | undefined
}

/** Adds the rows of a stream that have a contact, a thousand at a time. */
export const addRows = fnRedacted("addRows")(function* <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: { readonly listNames?: ReadonlyArray<string> | undefined; readonly concurrency?: number | undefined } = {}
) {
  const { concurrency = defaultAddConcurrency, listNames } = options
  const adder = yield* makeBulkAdder(listNames)
  const counts = { Accepted: 0, Refused: 0, NotSent: 0, Unknown: 0 }
  const rejectedRows: Array<Omit<RejectedRow, "cells">> = []
  const name = (line: number, reason: string) => {
    if (rejectedRows.length < maximumNamedRows) rejectedRows.push({ line, reason })
  }
  const onInvalid = (row: ImportRow, reason: string) => {
    counts.Refused++
    name(row.line, reason)
  }
  yield* batches(rows, { onInvalid }).pipe(
    Stream.takeWhileEffect(() => Effect.map(adder.stoppedBy, (error) => error === undefined)),
    Stream.mapEffect(
      ({ contacts, lines }) =>
        Effect.map(adder.send(contacts), (runs) => {
          let at = 0
          for (const { count, outcome } of runs) {
            counts[outcome._tag] += count
            if (outcome._tag === "Refused") name(lines[at] ?? 0, outcome.error.message)
            at += count
          }
        }),
      { concurrency, unordered: true }
    ),
    Stream.runDrain
  )
  const report: RowAddsReport = {
    read: counts.Accepted + counts.Refused + counts.NotSent + counts.Unknown,
    accepted: counts.Accepted,
    rejected: counts.Refused,
    rejectedRows: rejectedRows.sort((one, other) => one.line - other.line),
    notSent: counts.NotSent,
    unknown: counts.Unknown,
    stoppedBy: yield* adder.stoppedBy
  }
  return report
})
