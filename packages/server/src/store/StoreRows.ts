/**
 * The rows of a store, from one database to another of the same migration: from PostgreSQL into a file and back.
 * (docs/decisions/backups.md)
 */
import { Effect, Option, Stream } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { byEngine, runEach, streamValues } from "./SqlDialect.ts"

interface Table {
  readonly name: string
  /** The column that the database numbers. */
  readonly numbered?: string
  /** Whether every store has its rows from the beginning: those of the copied one take their place. */
  readonly isGivenWithStore?: boolean
  /** The rows that are held at one time, where they may have megabytes. */
  readonly atOnce?: number
}

const rowsAtOnce = 500
const largeRowsAtOnce = 4

/** The tables of a store, each after those that it refers to. The blocks of contacts are counted again instead of copied. */
export const tables: ReadonlyArray<Table> = [
  { name: "stores", isGivenWithStore: true },
  { name: "contacts", numbered: "id" },
  { name: "lists", numbered: "id" },
  { name: "list_members" },
  { name: "runs", numbered: "number" },
  { name: "run_changes", atOnce: largeRowsAtOnce },
  { name: "credentials", numbered: "id" },
  { name: "credential_uses" },
  { name: "jobs", numbered: "number" },
  { name: "job_parts", atOnce: largeRowsAtOnce },
  { name: "job_rejections" },
  { name: "job_kept_statuses" },
  { name: "saved_rules" },
  { name: "outbox", atOnce: largeRowsAtOnce },
  { name: "idempotent_answers", atOnce: largeRowsAtOnce },
  { name: "audit_entries", numbered: "number" },
  // The contacts that were copied have left rows of their own.
  { name: "status_changes", numbered: "number", isGivenWithStore: true }
]

type Rows = ReadonlyArray<ReadonlyArray<unknown>>

/** The part of copying that databases do in their own way. */
interface CopyDialect {
  readonly columns: (table: string) => Effect.Effect<ReadonlyArray<{ readonly name: string }>, SqlError.SqlError>
  /** The rows of a query, in the transaction that reads one snapshot. */
  readonly rows: (query: string, table: Table) => Stream.Stream<ReadonlyArray<unknown>, SqlError.SqlError>
  readonly insert: (into: string, columns: number, rows: Rows) => Effect.Effect<unknown, SqlError.SqlError>
  /** The last number that was given to a row, or 0. */
  readonly lastNumber: (table: string, column: string) => Effect.Effect<number, SqlError.SqlError>
  readonly setLastNumber: (table: string, column: string, last: number) => Effect.Effect<unknown, SqlError.SqlError>
  /** What the database keeps besides. */
  readonly complete: Effect.Effect<unknown, SqlError.SqlError>
}

const lastOf = (rows: ReadonlyArray<{ readonly last: number }>): number => Number(rows[0]?.last ?? 0)

const postgres = (sql: SqlClient.SqlClient): CopyDialect => ({
  columns: (table) => sql`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = ${table} AND is_generated = 'NEVER'`,
  rows: (query, { atOnce = rowsAtOnce, name }) =>
    Stream.unwrap(
      Effect.map(sql.unsafe(`DECLARE copied_${name} NO SCROLL CURSOR FOR ${query}`).valuesUnprepared, () =>
        Stream.paginate(undefined, () =>
          Effect.map(
            sql.unsafe(`FETCH ${atOnce} FROM copied_${name}`).valuesUnprepared,
            (rows) => [rows, rows.length < atOnce ? Option.none() : Option.some(undefined)] as const
          )
        )
      )
    ),
  insert: (into, columns, rows) => {
    const places = rows.map(
      (_, row) => `(${Array.from({ length: columns }, (_, column) => `$${row * columns + column + 1}`).join(",")})`
    )
    return sql.unsafe(`${into} OVERRIDING SYSTEM VALUE VALUES ${places.join(",")}`, rows.flat()).valuesUnprepared
  },
  lastNumber: (table, column) =>
    Effect.flatMap(
      sql<{ readonly sequence: string }>`SELECT pg_get_serial_sequence(${table}, ${column}) AS sequence`,
      ([row]) =>
        Effect.map(
          sql<{ readonly last: number }>`
            SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${sql.literal(row?.sequence ?? "")}`,
          lastOf
        )
    ),
  setLastNumber: (table, column, last) =>
    sql`SELECT setval(pg_get_serial_sequence(${table}, ${column}), greatest(${last}::bigint, 1), ${last}::bigint > 0)`,
  complete: Effect.void
})

const sqlite = (sql: SqlClient.SqlClient): CopyDialect => ({
  columns: (table) => sql`SELECT name FROM pragma_table_info(${table})`,
  rows: (query) => streamValues(sql.unsafe(query)),
  insert: (into, columns, rows) =>
    runEach(sql, `${into} VALUES (${Array.from({ length: columns }, () => "?").join(",")})`, rows),
  lastNumber: (table) =>
    Effect.map(sql<{ readonly last: number }>`SELECT seq AS last FROM sqlite_sequence WHERE name = ${table}`, lastOf),
  setLastNumber: (table, _, last) =>
    Effect.andThen(
      sql`DELETE FROM sqlite_sequence WHERE name = ${table}`,
      sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`
    ),
  complete: sql`
    INSERT INTO contact_blocks (account, block, contacts, last)
    SELECT account, id >> 10, count(*), max(id) FROM contacts GROUP BY account, id >> 10`
})

const copyDialect = (sql: SqlClient.SqlClient): CopyDialect =>
  byEngine(sql, { sqlite: () => sqlite(sql), postgres: () => postgres(sql) })

/** As the first statement of a transaction on PostgreSQL: it reads all tables as of one moment. */
export const readSnapshot = (sql: SqlClient.SqlClient) => sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`

/** Copies all rows into the empty tables of another database. Both clients are in a transaction. */
export const copyRows = Effect.fnUntraced(function* (from: SqlClient.SqlClient, to: SqlClient.SqlClient) {
  const source = copyDialect(from)
  const target = copyDialect(to)
  for (const table of tables) {
    const { atOnce = rowsAtOnce, isGivenWithStore = false, name, numbered } = table
    const known = new Set((yield* target.columns(name)).map(({ name }) => name))
    const columns = (yield* source.columns(name)).map(({ name }) => name).filter((name) => known.has(name))
    // A store of an earlier version lacks some tables.
    if (columns.length === 0) continue
    if (isGivenWithStore) yield* to`DELETE FROM ${to(name)}`
    yield* source.rows(`SELECT ${columns.join(", ")} FROM ${name}`, table).pipe(
      Stream.rechunk(atOnce),
      Stream.runForEachArray((rows) =>
        target.insert(`INSERT INTO ${name} (${columns.join(", ")})`, columns.length, rows)
      )
    )
    if (numbered !== undefined) {
      yield* target.setLastNumber(name, numbered, yield* source.lastNumber(name, numbered))
    }
  }
  yield* target.complete
})

/** The first table that has rows. */
export const firstFilled = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  for (const { isGivenWithStore = false, name } of tables) {
    if (isGivenWithStore) continue
    const found = yield* sql`SELECT 1 AS found FROM ${sql(name)} LIMIT 1`
    if (found.length > 0) return name
  }
  return undefined
})

/** Keeps others from writing to a PostgreSQL until the transaction ends. */
export const lockTables = (sql: SqlClient.SqlClient) =>
  sql`LOCK TABLE ${sql.literal(tables.map(({ name }) => name).join(", "))} IN SHARE ROW EXCLUSIVE MODE`
