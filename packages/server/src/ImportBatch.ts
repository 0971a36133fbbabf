/**
 * The rows of an import in batches, each of which becomes one transaction.
 */
import type { ContactRow } from "@roster/domain"
import { Stream } from "effect"

const batchRows = 1000

/** A batch ends with the row that brings it so far, too: a row may be as long as thousands. */
const batchCharacters = 4 * 1024 * 1024

const lengthOf = ({ cells }: ContactRow): number => cells.reduce((sum, cell) => sum + cell.length, 0)

const none: ReadonlyArray<never> = []

/**
 * @internal
 */
export const inBatches = <E>(rows: Stream.Stream<ContactRow, E>): Stream.Stream<ReadonlyArray<ContactRow>, E> =>
  Stream.suspend(() => {
    let held: Array<ContactRow> = []
    let characters = 0
    const flush = (): ReadonlyArray<ReadonlyArray<ContactRow>> => {
      if (held.length === 0) return none
      const batch = held
      held = []
      characters = 0
      return [batch]
    }
    const take = (row: ContactRow): ReadonlyArray<ReadonlyArray<ContactRow>> => {
      held.push(row)
      characters += lengthOf(row)
      return held.length < batchRows && characters < batchCharacters ? none : flush()
    }
    return rows.pipe(Stream.map(take), Stream.concat(Stream.sync(flush)), Stream.flattenIterable)
  })
