/**
 * The rows of an import in batches, each of which becomes one transaction, or some where others want to write.
 */
import type { ContactRow } from "@roster/domain"
import { Stream } from "effect"

/** As many as one transaction may have: the more there are, the fewer pages of an index are written for each. */
const batchRows = 10_000

/** A batch ends with so many pieces of its file, too, of 256 KiB each: a row may be as long as thousands. */
const batchPieces = 16

/**
 * @internal
 */
export const inBatches = <E>(rows: Stream.Stream<ContactRow, E>): Stream.Stream<ReadonlyArray<ContactRow>, E> =>
  Stream.suspend(() => {
    let held: ReadonlyArray<ContactRow> = []
    let pieces = 0
    const take = (piece: ReadonlyArray<ContactRow>): ReadonlyArray<ReadonlyArray<ContactRow>> => {
      const all = held.length === 0 ? piece : [...held, ...piece]
      const batches: Array<ReadonlyArray<ContactRow>> = []
      let at = 0
      for (; all.length - at >= batchRows; at += batchRows) batches.push(all.slice(at, at + batchRows))
      held = all.slice(at)
      pieces = batches.length > 0 ? 1 : pieces + 1
      return pieces < batchPieces ? batches : [...batches, ...flush()]
    }
    const flush = (): ReadonlyArray<ReadonlyArray<ContactRow>> => {
      const batch = held
      held = []
      pieces = 0
      return batch.length === 0 ? [] : [batch]
    }
    return rows.pipe(Stream.chunks, Stream.map(take), Stream.concat(Stream.sync(flush)), Stream.flattenIterable)
  })
