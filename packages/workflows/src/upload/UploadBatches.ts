/** Cuts the rows of a file into batches, each of which is sent in one request. */
import {
  type ContactPayload,
  ContactSize,
  type ImportRow,
  maximumAddBytes,
  maximumContactsPerAdd
} from "@roster/domain"
import { contactOf } from "@roster/domain/internal"
import { Result, Stream } from "effect"

/** A row that is sent. */
export interface SentRow {
  /** The address of its contact. */
  readonly email: string
  readonly contact: ContactPayload
  /** The lists that the row names. */
  readonly lists: ReadonlyArray<string>
}

const noLists: ReadonlyArray<string> = []

/** A row with its contact. */
export const sentRow = (contact: ContactPayload, lists = noLists): SentRow => ({ email: contact.email, contact, lists })

/** About the most bytes of the names of lists as JSON in UTF-8. */
const listBytes = (lists: ReadonlyArray<string>): number => lists.reduce((sum, { length }) => sum + 3 * length + 3, 0)

/** A batch of rows, and their places in the file. */
export interface UploadBatch {
  readonly batch: ReadonlyArray<SentRow>
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
    const begun = () => ({ batch: Array<SentRow>(), rows: Array<number>(), lines: Array<number>(), bytes: 0 })
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
          const sent = sentRow(contact.success, row.lists)
          const bytes = ContactSize.mostBytes(contact.success) + listBytes(sent.lists)
          if (open.bytes + bytes > maximumAddBytes) end(full)
          open.batch.push(sent)
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
