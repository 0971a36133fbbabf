/** Adds the rows of a file in one pass. */
import {
  canonicalEmail,
  type ContactPayload,
  fnRedacted,
  type ImportRow,
  makeConsentWarnings,
  mergedStatus,
  strictnessOf
} from "@roster/domain"
import { Stream } from "effect"
import { named, type NamedRejection, rejectionOf } from "../runs/Rejections.ts"
import type { RunReport } from "../runs/RunReport.ts"
import { type BulkAddOptions, unreadAdding } from "../upload/BulkAdd.ts"
import { batches } from "../upload/UploadBatches.ts"
import { maximumNamedRows } from "../upload/UploadSurvey.ts"
import { leftOf, makeApplier } from "./Applier.ts"

/** The addresses with a strict status that are noted, some 64 MiB of them. */
const maximumNoted = 500_000

/** Makes what merges the status of a row with those of the earlier rows of its address. */
const makeStatusMerge = (resubscribe: BulkAddOptions["resubscribe"]) => {
  const noted = new Map<string, ContactPayload["status"]>()
  return (contact: ContactPayload): ContactPayload => {
    const isStrict = strictnessOf(contact.status) > 0
    if (contact.status === undefined || (noted.size === 0 && !isStrict)) return contact
    const identity = canonicalEmail(contact.email)
    const status = mergedStatus(noted.get(identity), contact.status, resubscribe)
    if (strictnessOf(status) === 0) noted.delete(identity)
    else if (noted.size < maximumNoted || noted.has(identity)) noted.set(identity, status)
    return status === contact.status ? contact : { ...contact, status }
  }
}

/**
 * Adds the rows of a file in one pass, without survey and log: rows of one address are all sent, each with the strictest status
 * up to it, and it cannot resume. An error of the service ends the reading.
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
  const { concurrency } = options
  const { apply, report } = yield* makeApplier<ContactPayload>({ ...(yield* unreadAdding(options)), concurrency })
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
  const withMergedStatus = makeStatusMerge(options.resubscribe)
  const parts = Stream.map(batches(looked, { onInvalid }), (part) => {
    sent += part.batch.length
    return { ...part, batch: part.batch.map(withMergedStatus) }
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
  return added
})
