/** Cuts the rows of a file into batches, each of which is sent in one request. */
import {
  contactOf,
  type ContactPayload,
  ContactSize,
  type ImportRow,
  maximumAddBytes,
  maximumContactsPerAdd
} from "@roster/domain"
import { Result, Stream } from "effect"

/** A batch of contacts, and their places in the file. */
export interface UploadBatch {
  readonly batch: ReadonlyArray<ContactPayload>
  /** The numbers of their rows, counted from 1. */
  readonly rows: ReadonlyArray<number>
  readonly lines: ReadonlyArray<number>
}

/** Skips the rows for which `isSent` is false, and reports those without a contact to `onInvalid`. */
export const batches = <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: {
    readonly isSent?: (row: number) => boolean
    readonly onInvalid?: (row: ImportRow, reason: string) => void
  } = {}
): Stream.Stream<UploadBatch, E, R> =>
  Stream.suspend(() => {
    const { isSent, onInvalid } = options
    let read = 0
    const begun = () => ({ batch: Array<ContactPayload>(), rows: Array<number>(), lines: Array<number>(), bytes: 0 })
    let open = begun()
    const end = (ended: Array<UploadBatch>): ReadonlyArray<UploadBatch> => {
      if (open.batch.length > 0) ended.push(open)
      open = begun()
      return ended
    }
    return Stream.mapAccumArray(
      rows,
      () => undefined,
      (_, some) => {
        const full: Array<UploadBatch> = []
        for (const row of some) {
          read++
          if (isSent !== undefined && !isSent(read)) continue
          const contact = contactOf(row)
          if (Result.isFailure(contact)) {
            onInvalid?.(row, contact.failure)
            continue
          }
          const bytes = ContactSize.mostBytes(contact.success)
          if (open.bytes + bytes > maximumAddBytes) end(full)
          open.batch.push(contact.success)
          open.rows.push(read)
          open.lines.push(row.line)
          open.bytes += bytes
          if (open.batch.length === maximumContactsPerAdd) end(full)
        }
        return [undefined, full]
      },
      { onHalt: () => end([]) }
    )
  })
