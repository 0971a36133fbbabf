/**
 * The rows of a file whose address a later row has too, each with the last row of its address, which is written with what all of
 * them give. It keeps 8 bytes of each, and 16 where a row has several lines. (docs/decisions/bulk-import.md)
 */
import { type ContactPayload, ContactSize, type ImportRow } from "@roster/domain"
import { contactOf, listsAfter, mergedContact, repeatedFile, type RepeatOptions } from "@roster/domain/internal"
import { Result, Schema, Stream } from "effect"
import type { Rejection } from "../runs/Rejections.ts"

/** A row that is merged into a later one with the same address. */
export const RepeatedRow = Schema.Struct({
  /** The line on which the row begins, counted from 1. */
  line: Schema.Int,
  /** The line of the row that it is merged into, the last one of its address. */
  winner: Schema.Int
})
export interface RepeatedRow extends Schema.Schema.Type<typeof RepeatedRow> {}

/** More rows than an upload takes, so that two numbers fit into one. */
const most = 2 ** 26

const makeNumbers = () => {
  let numbers = new Float64Array(16)
  let count = 0
  return {
    push: (number: number): void => {
      if (count === numbers.length) {
        const larger = new Float64Array(count * 2)
        larger.set(numbers)
        numbers = larger
      }
      numbers[count++] = number
    },
    taken: (): Float64Array => numbers.subarray(0, count)
  }
}

/** The place of the last of ascending numbers that is not above one; -1 without any. */
const placeOf = (numbers: Float64Array, number: number): number => {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) <= number) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Collects the lines of rows. */
export const makeRowLines = () => {
  const starts = makeNumbers()
  const offsets = makeNumbers()
  let offset: number | undefined
  return {
    /** Records the line of a row; rows come in their order. */
    add: (row: number, line: number): void => {
      if (line - row === offset) return
      offset = line - row
      starts.push(row)
      offsets.push(offset)
    },
    lineOf: (row: number): number => row + (offsets.taken()[placeOf(starts.taken(), row)] ?? 0)
  }
}

/** Pairs of a row and another with its address. */
export const pairsOfRows = (pairs: Iterable<readonly [row: number, other: number]>) => {
  const numbers = makeNumbers()
  for (const [row, other] of pairs) numbers.push(row * most + other)
  const sorted = numbers.taken().sort()
  return {
    count: sorted.length,
    /** The other row with the address of a row. */
    otherOf: (row: number): number | undefined => {
      const pair = sorted[placeOf(sorted, row * most + most - 1)] ?? 0
      return Math.floor(pair / most) === row ? pair % most : undefined
    },
    /** The first pairs. */
    first: (count: number): ReadonlyArray<readonly [row: number, other: number]> =>
      Array.from(sorted.subarray(0, count), (pair) => [Math.floor(pair / most), pair % most] as const)
  }
}

/** What the rows of one address give together, up to the last that was read. */
export interface MergedRows {
  readonly contact: ContactPayload
  /** The lists that any of them names. */
  readonly lists: ReadonlyArray<string>
  /** The last row that is part of it. */
  readonly row: number
  /** Whether two of the rows give different statuses. */
  readonly hasSeveralStatuses: boolean
  /** Whether the first of them gives none. */
  readonly beginsWithoutStatus: boolean
}

/** Merged contacts whose first row gives no status, though a later one does. They have the fields of contacts alone. */
const withoutStatusFirst = new WeakSet<ContactPayload>()

/** Whether the first row of a merged contact gives no status, so that a new contact begins with that of the import. */
export const beginsWithoutStatus = (contact: ContactPayload): boolean => withoutStatusFirst.has(contact)

/** How rows are merged. */
export interface MergeOptions extends RepeatOptions {
  /** The last row with the address of a row, if it is another. */
  readonly lastOf: (row: number) => number | undefined
  /** Runs for a row that would make the contact too large, and is left out; `of` is what it would be merged with. */
  readonly onTooLarge?: ((row: number, of: MergedRows) => void) | undefined
  /** Runs for each row that others are merged into. */
  readonly onMerged?: ((row: ImportRow, merged: MergedRows) => void) | undefined
}

/** Bytes of contacts that wait for the last row of their address. */
export const maximumMergeBytes = 64 * 1024 * 1024

/** About the memory of a contact: two bytes for a letter, of which a bound of JSON has six. */
const bytesOf = ({ contact, lists }: MergedRows): number =>
  lists.reduce((sum, { length }) => sum + 2 * length, 256 + ContactSize.mostBytes(contact) / 3)

/**
 * Rows, of which the last one of each address has what all of them give; the others stay as they are. What waits for the last row
 * of its address takes at most `maximumBytes`: of more, those that wait longest are dropped, and the rows are read once more from
 * the beginning when the first of them is due.
 */
export const mergeRows = <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: MergeOptions,
  maximumBytes = maximumMergeBytes
): Stream.Stream<ImportRow, E, R> => {
  const { lastOf, onMerged, onTooLarge } = options
  const merged = (
    before: MergedRows | undefined,
    contact: ContactPayload,
    lists: ReadonlyArray<string>,
    row: number
  ): MergedRows => {
    if (before === undefined) {
      return { contact, lists, row, hasSeveralStatuses: false, beginsWithoutStatus: contact.status === undefined }
    }
    const both = mergedContact(before.contact, contact, options)
    if (both === undefined) {
      onTooLarge?.(row, before)
      return before
    }
    const { status } = before.contact
    const differs = status !== undefined && contact.status !== undefined && status !== contact.status
    const onAll = lists.length === 0 ? before.lists : listsAfter(before.lists, { addToLists: lists })
    return { ...before, contact: both, lists: onAll, row, hasSeveralStatuses: before.hasSeveralStatuses || differs }
  }
  const from = (first: number): Stream.Stream<ImportRow, E, R> =>
    Stream.suspend(() => {
      const waiting = new Map<number, MergedRows>()
      let [number, end, bytes] = [0, Infinity, 0]
      const drop = (last: number): MergedRows | undefined => {
        const before = waiting.get(last)
        if (before === undefined) return undefined
        waiting.delete(last)
        bytes -= bytesOf(before)
        return before
      }
      const wait = (last: number, contact: ContactPayload, lists: ReadonlyArray<string>): void => {
        const now = merged(drop(last), contact, lists, number)
        waiting.set(last, now)
        bytes += bytesOf(now)
        if (bytes <= maximumBytes || waiting.size < 2) return
        const lasts = Array.from(waiting.keys()).sort((one, other) => one - other)
        for (const last of lasts.slice(lasts.length >>> 1)) drop(last)
        end = lasts[lasts.length >>> 1] ?? end
      }
      const take = (row: ImportRow): ReadonlyArray<ImportRow> => {
        if (++number >= end) return []
        const last = lastOf(number)
        const contact = last === undefined && !waiting.has(number) ? undefined : contactOf(row)
        if (contact === undefined || Result.isFailure(contact)) return number < first ? [] : [row]
        if (last !== undefined) {
          if (last >= first && last < end) wait(last, contact.success, row.lists ?? [])
          return number < first ? [] : [row]
        }
        const all = merged(drop(number), contact.success, row.lists ?? [], number)
        if (all.beginsWithoutStatus && all.contact.status !== undefined) withoutStatusFirst.add(all.contact)
        onMerged?.(row, all)
        const { cells, header, line, record } = row
        return [{ line, header, cells, record, contact: Result.succeed(all.contact), lists: all.lists }]
      }
      return Stream.chunks(rows).pipe(
        Stream.map((part) => part.flatMap(take)),
        Stream.takeUntil(() => number >= end),
        Stream.flattenIterable,
        Stream.concat(Stream.suspend(() => (end === Infinity ? Stream.empty : from(end))))
      )
    })
  return from(1)
}

/** Why a row is rejected whose address another one has, for `reject`. */
export const repeatedReason = (otherLine: number): string => `Email: line ${otherLine} has the same address`

/** The rejection of such a row. */
export const repeatedRejection = (row: ImportRow, otherLine: number, column: string | undefined): Rejection => {
  const email = Result.isSuccess(row.contact) ? row.contact.success.email.slice(0, 100) : undefined
  return {
    line: row.line,
    reason: repeatedReason(otherLine),
    cause: "Email: another row has the same address",
    code: "Duplicate",
    ...(column === undefined ? {} : { column }),
    ...(email === undefined ? {} : { email, value: email })
  }
}

/** The file of the rows that are merged into others: CSV with the line of each and of the other, and the cells. */
export const duplicatesFile = <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  {
    header,
    otherLine
  }: { readonly header: ImportRow["header"]; readonly otherLine: (row: number) => number | undefined }
): Stream.Stream<Uint8Array, E, R> =>
  repeatedFile(
    header,
    Stream.suspend(() => {
      let number = 0
      return Stream.mapAccumArray(
        rows,
        () => undefined,
        (_, some) => [
          undefined,
          some.flatMap(({ cells, line }) => {
            const winner = otherLine(++number)
            return winner === undefined ? [] : [{ line, winner, cells }]
          })
        ]
      )
    })
  )
