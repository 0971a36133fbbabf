/** Cuts the rows of a file into batches, each of which is sent in one request. */
import { type ImportRow, maximumAddBytes, maximumContactsPerAdd } from "@roster/domain"
import { type FastContacts, FastContactsWriter } from "@roster/domain/FastContacts"
import { Stream } from "effect"

/** A batch of contacts, and their places in the file. */
export interface UploadBatch {
  readonly contacts: FastContacts
  /** The numbers of their rows, counted from 1. */
  readonly rows: Int32Array
  readonly lines: Int32Array
  /** Releases the memory of the contacts, once all of them are accepted. */
  readonly release: () => void
}

/** A batch of so many bytes is full: what an add takes also holds the contact that made it full. */
const fullBatch = maximumAddBytes / 2

/** Plain arrays would raise the peak memory of an upload from 133 to 170 MiB, beyond the bulk claim of 150. */
const newNumbers = () => new Int32Array(maximumContactsPerAdd)

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
    const writer = new FastContactsWriter()
    let read = 0
    let numbers = newNumbers()
    let lines = newNumbers()
    const take = (): UploadBatch => {
      const contacts = writer.take()
      const { length } = contacts
      const batch: UploadBatch = {
        contacts,
        rows: numbers.subarray(0, length),
        lines: lines.subarray(0, length),
        release: () => writer.recycle(contacts)
      }
      numbers = newNumbers()
      lines = newNumbers()
      return batch
    }
    const add = (row: ImportRow): void => {
      read++
      if (isSent !== undefined && !isSent(read)) return
      const problem = writer.add(row)
      if (problem !== undefined) return onInvalid?.(row, problem)
      numbers[writer.count - 1] = read
      lines[writer.count - 1] = row.line
    }
    return Stream.mapAccumArray(
      rows,
      () => undefined,
      (_, some) => {
        const full: Array<UploadBatch> = []
        for (const row of some) {
          add(row)
          if (writer.count === maximumContactsPerAdd || writer.bytes >= fullBatch) full.push(take())
        }
        return [undefined, full]
      },
      { onHalt: () => (writer.count === 0 ? [] : [take()]) }
    )
  })
