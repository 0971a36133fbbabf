/** The differences between SQLite and PostgreSQL, and queries that are compiled once. */
import { Context, Effect, Function, Iterable, Option, References, Stream } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { hash } from "node:crypto"
import { beginSlice, yieldToEventLoop } from "../threads/Slices.ts"
import { isSqliteConnection, isSqliteSqlClient, StreamedValues } from "./sqlite/SqliteConnection.ts"

/** A value for each engine. Whoever adds an engine adds a member, and the compiler names each place that lacks it. */
interface ByEngine<A> {
  readonly sqlite: () => A
  readonly postgres: () => A
}

/** Takes what belongs to the engine of a client. */
export const byEngine = <A>(sql: SqlClient.SqlClient, { postgres, sqlite }: ByEngine<A>): A =>
  sql.onDialectOrElse({
    sqlite,
    pg: postgres,
    orElse: () => {
      throw new Error("A store is on SQLite or on PostgreSQL.")
    }
  })

/** Pages of WAL that make writers wait for the steps of an export: a little more than it has without readers. */
const longWal = 9000

/** Pages of the WAL, and those of them that the database file has; without a WAL -1. */
interface Checkpoint {
  readonly log: number
  readonly checkpointed: number
}

/** What a store answers that is ready. */
interface Ready {
  readonly step: number
}

const stepOf = ([row]: ReadonlyArray<Ready>): number => Number(row?.step ?? 0)

type Fragment = Statement.Fragment
type Rows = ReadonlyArray<ReadonlyArray<unknown>>
/** The rows that are written in one effect: one for each row would cost more than SQLite does. */
const rowsAtOnce = 25

/**
 * Runs a compiled statement per set of parameters in the caller's transaction on SQLite, and gives the id of the row that
 * each has inserted, if it is an insert. Others are answered whenever a slice has taken its time.
 */
export const runEach = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  statement: string,
  parameters: Iterable<ReadonlyArray<unknown>>
) {
  const connection = Option.getOrUndefined(yield* Effect.serviceOption(sql.transactionService))?.[0]
  if (connection === undefined || !isSqliteConnection(connection)) {
    return yield* Effect.die(new Error("runEach was called outside of a transaction of SQLite"))
  }
  const ids: Array<number> = []
  let isOver = yield* beginSlice()
  for (const some of Iterable.chunksOf(parameters, rowsAtOnce)) {
    ids.push(...(yield* connection.executeEach(statement, some)))
    if (!isOver()) continue
    yield* yieldToEventLoop
    isOver = yield* beginSlice()
  }
  return ids
})

type Ask = (query: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<Rows, SqlError.SqlError>

/** Fast path: without a tracer the connection runs the query directly, since the steps between cost as much as a query. */
const askAtOnce = (sql: SqlClient.SqlClient): Ask => {
  if (!isSqliteSqlClient(sql)) return (query, parameters) => sql.unsafe(query, parameters).values
  const { outsideTransactions, transactionService } = sql
  return (query, parameters) =>
    Effect.contextWith((context: Context.Context<never>) => {
      if (Context.get(context, References.TracerEnabled)) return sql.unsafe(query, parameters).values
      const transaction = Context.getOption(context, transactionService)
      const connection = Option.isSome(transaction) ? transaction.value[0] : outsideTransactions
      return connection.executeValues(query, parameters)
    })
}

type LockAccounts = (accounts: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError>

const withoutLock: LockAccounts = () => Effect.void

const sqlite = (sql: SqlClient.SqlClient) => ({
  /** Whether a column is one of many texts, which are bound as one parameter. */
  isOneOf: (column: string, texts: ReadonlyArray<string>): Fragment =>
    sql`${sql(column)} IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`,
  /** Whether a row has one of many ids, in this column (default: `id`). */
  isOneOfIds: (ids: Iterable<number>, column = "id"): Fragment => sql`${sql(column)} IN (${numbersOf(sql, ids)})`,
  /** A column of texts to sort by, which compares bytes. */
  inByteOrder: (column: string): Fragment => sql`${sql(column)}`,
  /** Ends a query whose rows nobody else changes before the end of the transaction. */
  locked: sql.literal(""),
  /**
   * Locks accounts until the end of the transaction. A decision that rests on rows that it does not change comes after it,
   * as everything does in a transaction of SQLite that writes.
   */
  lockAccounts: withoutLock,
  /**
   * Waits for the table of contacts, and gives the migration step of the store. Fails if the database takes no writes now: a
   * disk can be full, and a primary can become a replica.
   */
  ready: Effect.map(
    sql<Ready>`
      UPDATE migrations SET name = name WHERE migration_id = (SELECT max(migration_id) FROM migrations)
      RETURNING migration_id AS step, (SELECT id FROM contacts LIMIT 1) AS id`,
    stepOf
  ),
  /** Runs a compiled query and gives its rows as values. */
  ask: askAtOnce(sql),
  /** Whether all who write wait for a transaction, which is why one is short. */
  writersWait: true,
  /**
   * Whether the WAL has grown long, as it does while a snapshot is read. Not by its file, which keeps its length when the
   * next write begins it again. Only outside of transactions.
   */
  isWalLong: Effect.map(
    sql<Checkpoint>`PRAGMA wal_checkpoint(NOOP)`,
    ([at]): boolean => at !== undefined && at.log > longWal && at.checkpointed < at.log
  ),
  /** The size of the store in bytes: of its file, or of its database. */
  storeBytes: Effect.map(
    sql<{ readonly bytes: number }>`
      SELECT pages.page_count * sizes.page_size AS bytes FROM pragma_page_count AS pages, pragma_page_size AS sizes`,
    ([size]): number => Number(size?.bytes ?? NaN)
  )
})

export type SqlDialect = ReturnType<typeof sqlite>

const postgres = (sql: SqlClient.SqlClient): SqlDialect => ({
  isOneOf: (column, texts) =>
    sql`${sql(column)} = ANY (ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb)))`,
  isOneOfIds: (ids, column = "id") => sql`${sql(column)} = ANY (${`{${Array.from(ids).join()}}`}::bigint[])`,
  inByteOrder: (column) => sql`${sql(column)} COLLATE "C"`,
  locked: sql.literal("FOR UPDATE"),
  // All in one order, so that two that lock the same accounts wait for each other in turn.
  lockAccounts: (accounts) =>
    Effect.forEach(
      [...new Set(accounts)].sort(),
      (account) => sql`
        INSERT INTO account_locks ${sql.insert({ account })}
        ON CONFLICT (account) DO UPDATE SET account = excluded.account`,
      { discard: true }
    ),
  // To lock is to write, also where nothing is locked.
  ready: Effect.map(
    sql<Ready>`
      SELECT max(migration_id) AS step, (SELECT id FROM contacts LIMIT 1) AS id,
        (SELECT count(*) FROM (SELECT id FROM contacts WHERE false FOR KEY SHARE) AS locked) AS locked
      FROM migrations`,
    stepOf
  ),
  ask: (query, parameters) => sql.unsafe(query, parameters).values,
  // Only those who change the same rows.
  writersWait: false,
  isWalLong: Effect.succeed(false),
  storeBytes: Effect.map(
    sql<{ readonly bytes: number }>`SELECT pg_database_size(current_database()) AS bytes`,
    ([size]) => Number(size?.bytes ?? NaN)
  )
})

/** The dialect of a client, made once. */
export const dialect = Function.memoize((sql: SqlClient.SqlClient): SqlDialect =>
  byEngine<SqlDialect>(sql, { sqlite: () => sqlite(sql), postgres: () => postgres(sql) })
)

/** Streams the rows of a statement as values. */
export const streamValues = (
  statement: Statement.Statement<unknown>
): Stream.Stream<ReadonlyArray<unknown>, SqlError.SqlError> =>
  Stream.provideService(
    // With `StreamedValues` the rows are arrays.
    statement.stream as Stream.Stream<ReadonlyArray<unknown>, SqlError.SqlError>,
    StreamedValues,
    true
  )

type TextList = ReadonlyArray<string | number | null | undefined>

// Signs that hardly any text has.
const before = "\u{1E}"
const none = "\u{1F}"

/**
 * Lists of texts as parameters of PostgreSQL, and as rows of a table `given`, with their names. Each list is one text, which PostgreSQL
 * cuts apart in less time than it reads an array, and this process joins in a quarter of the time.
 */
export const textLists = {
  /** The rows, from parameters on from a number: `parameters` gives two more than lists. */
  rows: (names: ReadonlyArray<string>, from: number): string => {
    // A text stands behind its sign, since no text at all would be no list of one empty text.
    const lists = names.map((_, place) => `(string_to_array($${from + 2 + place}, $${from}, $${from + 1}))[2:]`)
    return `unnest(${lists.join(", ")}) AS given (${names.join(", ")})`
  },
  parameters: (lists: ReadonlyArray<TextList>): ReadonlyArray<string> => {
    const hasSign = (value: TextList[number]) =>
      typeof value === "string" && (value.includes(before) || value.includes(none))
    // No text holds the digest of itself and others.
    const mark = lists.some((list) => list.some(hasSign)) ? hash("sha256", JSON.stringify(lists)) : ""
    const [sign, empty] = [before + mark, none + mark]
    return [sign, empty, ...lists.map((list) => list.map((value) => sign + (value ?? empty)).join(""))]
  }
} as const

/** A query with one row and column for each of many numbers, which are bound as one parameter. Only for SQLite. */
export const numbersOf = (sql: SqlClient.SqlClient, numbers: Iterable<unknown>): Fragment =>
  sql`SELECT value FROM json_each(${JSON.stringify(Array.from(numbers))})`

/** The last row of a page that has as many rows as were asked for: the next page begins behind it. */
export const lastOfFullPage = <Row>(rows: ReadonlyArray<Row>, size: number): Option.Option<Row> =>
  rows.length < size ? Option.none() : Option.fromUndefinedOr(rows.at(-1))

/** Compiles a query once. Each run takes its parameters in order and gives rows as arrays of values. */
export const preparedQuery = (sql: SqlClient.SqlClient, query: Statement.Statement<unknown>) => {
  const [text] = query.compile()
  const { ask } = dialect(sql)
  return (parameters: ReadonlyArray<unknown>) => ask(text, parameters)
}
