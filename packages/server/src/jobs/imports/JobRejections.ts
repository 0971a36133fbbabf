/**
 * The rows that an import rejected, as they stood in its file: what a file of rejected rows is made of.
 */
import type { RejectedRow } from "@roster/domain"
import { Array as Arr, Effect, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"

/** What is kept of the rejected rows of one import, in characters. More are counted and no longer kept. */
const maximumKept = 256 * 1024 * 1024

/** What a row takes beside its texts. */
const rowCharacters = 64

/** A statement takes a limited number of parameters. */
const rowsAtOnce = 500

const encodeCells = Schema.encodeSync(Schema.fromJsonString(Schema.Array(Schema.String)))
const decodeCells = Schema.decodeSync(Schema.fromJsonString(Schema.Array(Schema.String)))

/** How many more characters may be kept of the rejected rows of a job. */
export const rejectionsRoom = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly kept: number }>`
    SELECT coalesce(sum(length(reason) + length(cells) + ${rowCharacters}), 0) AS kept
    FROM job_rejections WHERE job = ${job}`
  return maximumKept - Number(row?.kept ?? 0)
})

/**
 * Keeps rejected rows while there is room for them, and gives how many it kept and the room that is left. Once there is
 * none for a row there is none for the rows behind it, so that what is kept is the beginning.
 */
export const keepRejections = Effect.fnUntraced(function* (
  job: number,
  rejected: ReadonlyArray<RejectedRow>,
  room: number
) {
  const sql = yield* SqlClient.SqlClient
  let left = room
  const rows = rejected.map(({ cells, line, reason }) => ({ job, line, reason, cells: encodeCells(cells) }))
  const kept: ReadonlyArray<Record<string, unknown>> = Arr.takeWhile(rows, ({ cells, reason }) => {
    left -= cells.length + reason.length + rowCharacters
    return left >= 0
  })
  for (const some of Arr.chunksOf(kept, rowsAtOnce)) {
    if (Arr.isReadonlyArrayNonEmpty(some)) yield* sql`INSERT INTO job_rejections ${sql.insert(some)}`
  }
  return { kept: kept.length, room: left }
})

const pageRows = 500

/**
 * The rows of a job that are kept, in the order of its file, some at a time: no transaction stays open while somebody
 * reads slowly.
 */
export const readRejections = (sql: SqlClient.SqlClient, job: number) =>
  Stream.paginate(0, (behind) =>
    sql<{ readonly line: number; readonly reason: string; readonly cells: string }>`
      SELECT line, reason, cells FROM job_rejections
      WHERE job = ${job} AND line > ${behind} AND cells IS NOT NULL ORDER BY line LIMIT ${pageRows}`.pipe(
      Effect.map((rows) => {
        const last = rows.length < pageRows ? undefined : rows.at(-1)
        return [
          rows.map((row): RejectedRow => ({ ...row, line: Number(row.line), cells: decodeCells(row.cells) })),
          last === undefined ? Option.none() : Option.some(Number(last.line))
        ] as const
      })
    )
  )
