/**
 * The changes of a run as rows: each is a JSON array of changes that follow one another, under the number of its last one. A row
 * for each change would cost as much as the write that it records.
 */
import { type RecordedChange, type RunChangesPage } from "@roster/domain"
import { ChangeContent, erasedChange, JsonParser } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { defaultPage } from "../store/Rows.ts"
import { byEngine, runEach, textLists } from "../store/SqlDialect.ts"
import { inSlices, yieldToEventLoop } from "../threads/Slices.ts"

/** The maximum number of changes of a row, which ends too after about so many bytes. */
export const maximumInRow = 100
const rowBytes = 64 * 1024

/** The bytes after which a page ends, and the rows that one statement reads. */
export const pageBytes = 1024 * 1024
const readAtOnce = 10

const readRow = Schema.decodeUnknownSync(JsonParser.fromJsonString(Schema.Array(ChangeContent)))

const insertOfEach = "INSERT INTO run_changes (run, number, content) VALUES (?, ?, ?)"

const insertOfAll = `
  INSERT INTO run_changes (run, number, content)
  SELECT $1::bigint, number::bigint, content FROM ${textLists.rows(["number", "content"], 2)}`

/** The rows of changes, given as JSON, by how many changes there are up to the end of each. */
export const rowsOf = (texts: ReadonlyArray<string>) => {
  const rows: Array<readonly [number: number, content: string]> = []
  let [from, size] = [0, 0]
  for (const [index, text] of texts.entries()) {
    size += text.length
    const until = index + 1
    if (until < texts.length && until - from < maximumInRow && size < rowBytes) continue
    rows.push([until, `[${texts.slice(from, until).join(",")}]`])
    from = until
    size = 0
  }
  return rows
}

/** Writes rows of changes after a number of changes, in the transaction of the caller. */
export const insertRows = Effect.fnUntraced(function* (run: number, before: number, rows: ReturnType<typeof rowsOf>) {
  const sql = yield* SqlClient.SqlClient
  yield* byEngine<Effect.Effect<unknown, SqlError.SqlError>>(sql, {
    sqlite: () =>
      runEach(
        sql,
        insertOfEach,
        rows.map(([until, content]) => [run, before + until, content])
      ),
    postgres: () => {
      const [numbers, contents] = [rows.map(([until]) => before + until), rows.map(([, content]) => content)]
      return sql.unsafe(insertOfAll, [run, ...textLists.parameters([numbers, contents])]).values
    }
  })
})

/** The changes of a row, with their numbers. */
export const changesOf = (row: ReadonlyArray<unknown>): ReadonlyArray<RecordedChange> => {
  const changes = readRow(row[1])
  const first = Number(row[0]) - changes.length + 1
  return changes.map((change, place) => ({ number: first + place, ...change }))
}

/** A page of the changes of a run. */
export const readChanges = Effect.fnUntraced(function* (run: number, page: RunChangesPage) {
  const sql = yield* SqlClient.SqlClient
  const { after = 0, before, limit = defaultPage } = page
  const all: Array<RecordedChange> = []
  let bytes = 0
  const isFull = () => all.length >= limit || bytes >= pageBytes
  /** The last number of the row that was read last. */
  let last = after
  if (before !== undefined) {
    // The row of the change before that one, which is not counted as a whole.
    const [row] = yield* sql`SELECT min(number) FROM run_changes WHERE run = ${run} AND number >= ${before - 1}`.values
    last = Number(row?.[0] ?? before) + 1
  }
  while (!isFull()) {
    const rows = yield* (
      before === undefined
        ? sql`SELECT number, content FROM run_changes WHERE run = ${run} AND number > ${last} ORDER BY number LIMIT ${readAtOnce}`
        : sql`SELECT number, content FROM run_changes WHERE run = ${run} AND number < ${last} ORDER BY number DESC LIMIT ${readAtOnce}`
    ).values
    yield* inSlices(function* () {
      for (const row of rows) {
        if (isFull()) return
        const some =
          before === undefined
            ? changesOf(row).filter(({ number }) => number > after)
            : changesOf(row)
                .filter(({ number }) => number < before)
                .toReversed()
        all.push(...some.slice(0, limit - all.length))
        bytes += String(row[1]).length
        last = Number(row[0])
        yield
      }
    })
    if (rows.length < readAtOnce) break
    yield* yieldToEventLoop
  }
  return all
})

/** Erases the persons of changes of a run, in the transaction of the caller. Gives by how many bytes it has become smaller. */
export const eraseChanges = Effect.fnUntraced(function* (run: number, numbers: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  const left = new Set(numbers)
  let less = 0
  for (const number of left) {
    const [row] = yield* sql`
      SELECT number, content FROM run_changes WHERE run = ${run} AND number >= ${number} ORDER BY number LIMIT 1`.values
    if (row === undefined) continue
    const changes = changesOf(row).map(({ number, ...change }) => (left.delete(number) ? erasedChange(change) : change))
    const content = JSON.stringify(changes)
    less += Buffer.byteLength(String(row[1])) - Buffer.byteLength(content)
    yield* sql`UPDATE run_changes SET content = ${content} WHERE run = ${run} AND number = ${Number(row[0])}`
  }
  return less
})
