/** Why rows are rejected: each with its place, and all of them by cause, since a file has few causes and many rows. */
import type { ImportRow } from "@roster/domain"
import { Schema, Struct } from "effect"

/** A rejected row as a report lists it. */
export const NamedRejection = Schema.Struct({
  /** The line on which the row begins, counted from 1. */
  line: Schema.Int,
  /** Why it is rejected, in words. */
  reason: Schema.String,
  /** The kind of the fault, as `RowProblem` has them; `Service` if the service refused it. */
  code: Schema.optionalKey(Schema.String),
  /** The heading of the column with the fault. */
  column: Schema.optionalKey(Schema.String),
  /** The text of the cell with the fault, up to 100 characters. */
  value: Schema.optionalKey(Schema.String),
  /** The text of the row's address, up to 100 characters. */
  email: Schema.optionalKey(Schema.String),
  /** The address that would do in place of that of the row; several are listed. */
  suggestion: Schema.optionalKey(Schema.String)
})
export interface NamedRejection extends Schema.Schema.Type<typeof NamedRejection> {}

/** Rows that are rejected for one cause. */
export const RejectionCause = Schema.Struct({
  /** The reason, without what differs from row to row. */
  cause: Schema.String,
  /** The kind of the fault. */
  code: Schema.optionalKey(Schema.String),
  /** The heading of the column. */
  column: Schema.optionalKey(Schema.String),
  /** The number of rows. */
  count: Schema.Int,
  /** The first of them: its line, its address and the reason in its own words. */
  first: Schema.Struct({
    line: Schema.Int,
    reason: Schema.String,
    email: Schema.optionalKey(Schema.String)
  }),
  /** The values of the column in these rows, up to 20, the most frequent first. */
  values: Schema.Array(Schema.Struct({ value: Schema.String, count: Schema.Int })),
  /** The number of rows with other values. */
  otherValues: Schema.Int,
  /** The values that the field takes, if they are few. */
  allowed: Schema.optionalKey(Schema.Array(Schema.String))
})
export interface RejectionCause extends Schema.Schema.Type<typeof RejectionCause> {}

/** A rejection with what groups it. */
export interface Rejection extends NamedRejection {
  /** The reason, without what differs from row to row. */
  readonly cause?: string
  /** What the column takes. */
  readonly allowed?: ReadonlyArray<string>
}

/** What a row is rejected for. */
export const rejectionOf = ({ fault, line }: ImportRow, reason: string): Rejection => {
  return fault === undefined || fault.reason !== reason ? { line, reason } : { line, ...fault }
}

/** A rejection as a report lists it. */
export const named = (row: Rejection): NamedRejection => Struct.omit(row, ["allowed", "cause"])

/** Numbers of a group beyond which causes and values are not told apart. */
const mostCauses = 100
const mostValues = 1000
const namedValues = 20

const otherCauses = "other causes"

interface Group {
  readonly first: Rejection
  count: number
  readonly values: Map<string, number>
}

/** Counts rejected rows by cause. Of very many causes the later ones are one. */
export const makeRejectionCauses = () => {
  const groups = new Map<string, Group>()
  const add = (row: Rejection): void => {
    const key = JSON.stringify([row.code, row.column, row.cause ?? row.reason])
    const isRoom = groups.has(key) || groups.size < mostCauses
    const group = groups.get(isRoom ? key : otherCauses) ?? { first: row, count: 0, values: new Map() }
    groups.set(isRoom ? key : otherCauses, group)
    group.count++
    const { value } = row
    if (value === undefined || !(group.values.has(value) || group.values.size < mostValues)) return
    group.values.set(value, (group.values.get(value) ?? 0) + 1)
  }
  /** The causes, those of most rows first. */
  const causes = (): ReadonlyArray<RejectionCause> =>
    Array.from(groups, ([key, { count, first, values }]): RejectionCause => {
      const { allowed, cause = first.reason, code, column, email, line, reason } = first
      const shown = Array.from(values, ([value, of]) => ({ value, count: of }))
        .toSorted((one, other) => other.count - one.count)
        .slice(0, namedValues)
      const isOther = key === otherCauses
      return {
        cause: isOther ? otherCauses : cause,
        ...(code === undefined || isOther ? {} : { code }),
        ...(column === undefined || isOther ? {} : { column }),
        count,
        first: { line, reason, ...(email === undefined ? {} : { email }) },
        values: shown,
        otherValues: count - shown.reduce((sum, { count: of }) => sum + of, 0),
        ...(allowed === undefined || isOther ? {} : { allowed })
      }
    }).toSorted((one, other) => other.count - one.count || one.first.line - other.first.line)
  return { add, causes }
}

/** How many rows may be rejected for a run to count as a success: a number, or a share of the rows that were read. */
export type RejectionLimit = { readonly rows: number } | { readonly percent: number }

/** Reads a limit such as `20` or `2.5%`; `undefined` for any other text. */
export const parseRejectionLimit = (text: string): RejectionLimit | undefined => {
  const [, number = "", sign] = /^(\d{1,9}(?:\.\d{1,3})?)\s*(%)?$/.exec(text.trim()) ?? []
  const amount = Number(number)
  if (number === "" || (sign === undefined ? !Number.isInteger(amount) : amount > 100)) return undefined
  return sign === undefined ? { rows: amount } : { percent: amount }
}

/** Whether no more rows were rejected than a limit allows (default: none). */
export const isWithinLimit = (
  { read, rejected }: { readonly read: number; readonly rejected: number },
  limit: RejectionLimit = { rows: 0 }
): boolean => ("rows" in limit ? rejected <= limit.rows : rejected * 100 <= limit.percent * read)
