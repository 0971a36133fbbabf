/** Adds the rows of a file in one pass. */
import { type ImportRow } from "@roster/domain"
import { fnRedacted, makeConsentWarnings, makeStatusNotes, KnownFields } from "@roster/domain/internal"
import { Stream } from "effect"
import { named, type NamedRejection, rejectionOf } from "../runs/Rejections.ts"
import type { RunReport } from "../runs/RunReport.ts"
import { unlessStopped } from "../runs/Stopped.ts"
import { type BulkAddOptions, bulkFields, unreadRows } from "../upload/BulkAdd.ts"
import { batches, type SentRow, sentRow } from "../upload/UploadBatches.ts"
import { maximumNamedRows } from "../upload/UploadSurvey.ts"
import { leftOf, makeApplier } from "./Applier.ts"

const addFields = KnownFields.fieldsOf<BulkAddOptions>("this call", bulkFields)

/**
 * Adds the rows of a file in one pass, without survey and log: rows of one address are all sent, each with the strictest status
 * up to it. An error of the service ends the reading (`Stopped`). It cannot resume: the same call again adds all rows again, also
 * over what others changed or deleted since.
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
  yield* KnownFields.checkFields(addFields, options)
  const { concurrency } = options
  const { apply, report, stoppedBy } = yield* makeApplier<SentRow>({ ...(yield* unreadRows(options)), concurrency })
  const invalid: Array<NamedRejection> = []
  let refused = 0
  let sent = 0
  const onInvalid = (row: ImportRow, reason: string) => {
    if (++refused <= maximumNamedRows) invalid.push(named(rejectionOf(row, reason)))
  }
  const consent = makeConsentWarnings()
  const looked = Stream.mapArray(rows, (part) => {
    part.forEach(consent.add)
    return part
  })
  const { note } = makeStatusNotes(options.resubscribe)
  const parts = Stream.map(batches(looked, { onInvalid }), (part) => {
    sent += part.batch.length
    return { ...part, batch: part.batch.map(({ contact, lists }) => sentRow(note(contact), lists)) }
  })
  yield* apply(parts)
  const applied = yield* report
  const rejectedRows = [...invalid, ...applied.rejectedRows].sort((one, other) => one.line - other.line)
  const added: RunReport = {
    ...applied,
    read: refused + sent,
    rejected: refused + applied.rejected,
    rejectedRows: rejectedRows.slice(0, maximumNamedRows),
    warnings: consent.all(),
    notSent: leftOf(applied, sent)
  }
  return yield* unlessStopped(added, yield* stoppedBy)
})
