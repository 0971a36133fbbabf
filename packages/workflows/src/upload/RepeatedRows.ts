/**
 * The rows of a file whose address another row has too, each with the row that stands for it, by their lines. It keeps 8
 * bytes of each, and 16 where a row has several lines. (docs/decisions/bulk-import.md)
 */
import { type ImportRow, repeatedFile } from "@roster/domain"
import { Result, Schema, Stream } from "effect"
import type { Rejection } from "../runs/Rejections.ts"

/** Which row of an address counts: the last (as for a service), the first, or none, so that all are rejected. */
export const OnDuplicate = Schema.Literals(["last", "first", "reject"])
export type OnDuplicate = typeof OnDuplicate.Type

/** A row that is left out for another with the same address. */
export const RepeatedRow = Schema.Struct({
  /** The line on which the row begins, counted from 1. */
  line: Schema.Int,
  /** The line of the row that is imported in its place. */
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

/** Collects the lines of rows, and then pairs of rows with the same address. */
export const makeRepeatedRows = () => {
  const starts = makeNumbers()
  const offsets = makeNumbers()
  let offset: number | undefined
  const pairs = makeNumbers()

  /** Records the line of a row; rows come in their order. */
  const addLine = (row: number, line: number): void => {
    if (line - row === offset) return
    offset = line - row
    starts.push(row)
    offsets.push(offset)
  }

  /** Records that a row has the address of another. */
  const add = (row: number, other: number): void => pairs.push(row * most + other)

  /** What is known once all are added. */
  const known = () => {
    const sorted = pairs.taken().sort()
    const [from, by] = [starts.taken(), offsets.taken()]
    const lineOf = (row: number): number => row + (by[placeOf(from, row)] ?? 0)
    /** The line of the other row with the address of a row. */
    const otherLine = (row: number): number | undefined => {
      const pair = sorted[placeOf(sorted, row * most + most - 1)] ?? 0
      return Math.floor(pair / most) === row ? lineOf(pair % most) : undefined
    }
    /** The first rows with the address of another. */
    const first = (count: number): ReadonlyArray<RepeatedRow> =>
      Array.from(sorted.subarray(0, count), (pair) => ({
        line: lineOf(Math.floor(pair / most)),
        winner: lineOf(pair % most)
      }))
    return { otherLine, first }
  }
  return { add, addLine, known }
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

/** The file of the rows that are left out for others: CSV with the line of each and of the other, and the cells. */
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
