/**
 * Rows of a file on their way to a service: numbered, left out or written, and cut into parts of what one add may carry.
 */
import { Stream } from "effect"
import { type ContactBatch, type ImportRow, makeBatchWriter, maximumContactsPerAdd } from "@roster/domain"

/** Contacts that are sent together, and where they stand in the file. */
export interface UploadBatch {
  readonly batch: ContactBatch
  /** The numbers of the rows, which begin at 1. */
  readonly rows: Int32Array
  readonly lines: Int32Array
  /** Says that all of it was accepted and nobody looks at it any more: a later part is written over it. */
  readonly reuse: () => void
}

/** Cuts the rows that have a contact and are to be sent into parts. The others are told of and left out. */
export const batches = <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: {
    readonly isSent?: (row: number) => boolean
    readonly onInvalid?: (row: ImportRow) => void
  } = {}
): Stream.Stream<UploadBatch, E, R> =>
  Stream.suspend(() => {
    const { isSent, onInvalid } = options
    const writer = makeBatchWriter(maximumContactsPerAdd)
    const spare: Array<{ readonly numbers: Int32Array<ArrayBuffer>; readonly lines: Int32Array<ArrayBuffer> }> = []
    let read = 0
    let numbers = new Int32Array(maximumContactsPerAdd)
    let lines = new Int32Array(maximumContactsPerAdd)
    const take = (): UploadBatch => {
      const count = writer.count()
      const batch = writer.take()
      const taken = { numbers, lines }
      const part: UploadBatch = {
        batch,
        rows: numbers.subarray(0, count),
        lines: lines.subarray(0, count),
        reuse: () => {
          writer.reuse(batch)
          spare.push(taken)
        }
      }
      const next = spare.pop()
      numbers = next?.numbers ?? new Int32Array(maximumContactsPerAdd)
      lines = next?.lines ?? new Int32Array(maximumContactsPerAdd)
      return part
    }
    return Stream.mapAccumArray(
      rows,
      () => undefined,
      (_, some) => {
        const parts: Array<UploadBatch> = []
        for (const row of some) {
          read++
          if (isSent !== undefined && !isSent(read)) continue
          if (!writer.add(row)) {
            onInvalid?.(row)
            continue
          }
          numbers[writer.count() - 1] = read
          lines[writer.count() - 1] = row.line
          if (writer.count() === maximumContactsPerAdd) parts.push(take())
        }
        return [undefined, parts]
      },
      { onHalt: () => (writer.count() === 0 ? [] : [take()]) }
    )
  })
