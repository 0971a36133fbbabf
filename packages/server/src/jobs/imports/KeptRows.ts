/**
 * The rows of an import that are kept with its job: those that were rejected, and those whose contacts kept their
 * status.
 */
import type { KeptStatusRow, RejectedRow, RowsPage } from "@roster/domain"
import { Array as Arr, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { defaultPage } from "../../store/Rows.ts"

/** In characters, for one import. Further rows are counted and not kept. */
const maximumKept = 256 * 1024 * 1024

/** In characters, for all imports of an account that can be seen. */
const maximumKeptOfAccount = 1024 * 1024 * 1024

/** The size of a row besides its texts. */
const rowCharacters = 64

/** A statement has a limited number of parameters. */
const rowsAtOnce = 500

const insertRows = Effect.fnUntraced(function* (table: string, rows: ReadonlyArray<Record<string, unknown>>) {
  const sql = yield* SqlClient.SqlClient
  for (const some of Arr.chunksOf(rows, rowsAtOnce)) {
    if (Arr.isReadonlyArrayNonEmpty(some)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(some)}`
  }
})

const encodeCells = Schema.encodeSync(Schema.fromJsonString(Schema.Array(Schema.String)))
const decodeCells = Schema.decodeSync(Schema.fromJsonString(Schema.Array(Schema.String)))

/** The characters that are left for rejected rows of a job. */
export const remainingRejectionSpace = Effect.fnUntraced(function* (job: number, account: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly kept: number }>`
    SELECT coalesce(sum(length(reason) + length(cells) + ${rowCharacters}), 0) AS kept
    FROM job_rejections WHERE job = ${job}`
  const [all] = yield* sql<{ readonly kept: number }>`
    SELECT coalesce(sum(rejected_size), 0) AS kept FROM jobs WHERE account = ${account} AND rejected_size > 0`
  return Math.min(maximumKept - Number(row?.kept ?? 0), maximumKeptOfAccount - Number(all?.kept ?? 0))
})

/** Keeps rejected rows up to the first that does not fit, and gives their number, their size and the room that is left. */
export const keepRejections = Effect.fnUntraced(function* (
  job: number,
  rejected: ReadonlyArray<RejectedRow>,
  room: number
) {
  let left = room
  let size = 0
  const rows = rejected.map(({ cells, line, reason }) => ({ job, line, reason, cells: encodeCells(cells) }))
  const kept = Arr.takeWhile(rows, ({ cells, reason }) => {
    const characters = cells.length + reason.length + rowCharacters
    left -= characters
    if (left >= 0) size += characters
    return left >= 0
  })
  yield* insertRows("job_rejections", kept)
  return { kept: kept.length, size, room: left }
})

/** A page ends after rows of so many characters: a row can have megabytes. */
const pageCharacters = 4 * 1024 * 1024

/** A page of the kept rows, in the order of the file. */
export const readRejections = Effect.fnUntraced(function* (job: number, { after = 0, limit = defaultPage }: RowsPage) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly line: number; readonly reason: string; readonly cells: string }>`
    SELECT line, reason, cells FROM (
      SELECT line, reason, cells, sum(length(cells)) OVER (ORDER BY line) - length(cells) AS before FROM (
        SELECT line, reason, cells FROM job_rejections
        WHERE job = ${job} AND line > ${after} AND cells IS NOT NULL ORDER BY line LIMIT ${limit}
      ) AS first_rows
    ) AS page WHERE before <= ${pageCharacters} ORDER BY line`
  return rows.map((row) => ({ ...row, line: Number(row.line), cells: decodeCells(row.cells) }))
})

/** How many rows of one import whose contacts kept their status are kept, the first ones; further rows are only counted. */
export const maximumKeptStatuses = 1000

/** Keeps rows whose contacts kept their status, of a job that has counted so many before. */
export const keepStatuses = (job: number, rows: ReadonlyArray<KeptStatusRow>, counted: number) =>
  insertRows(
    "job_kept_statuses",
    rows.slice(0, Math.max(0, maximumKeptStatuses - counted)).map(({ line, status }) => ({ job, line, status }))
  )

/** The kept rows whose contacts kept their status, in the order of the file. */
export const readKeptStatuses = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<KeptStatusRow>`
    SELECT line, status FROM job_kept_statuses WHERE job = ${job} ORDER BY line`
  return rows.map(({ line, status }) => ({ line: Number(line), status }))
})
