/** Effect SQL on a connection of `node:sqlite`. Each call runs one statement and blocks the thread meanwhile. */
import { Array, Cause, Context, Effect, identity, Predicate, type Pull, Stream } from "effect"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"
import type { DatabaseSync } from "node:sqlite"
import { type Waiting, whileBusy } from "./SqliteBusy.ts"
import { isBusy, isUnsynced, toSqlError, withHolder, withReadOnly } from "./SqliteError.ts"
import type * as SqliteStatements from "./SqliteStatements.ts"
import type { LockContention } from "./LockContention.ts"

export interface Options {
  /** The path of the file, as messages name it. */
  readonly filename: string
  /** How long to wait for a lock that another connection holds, in milliseconds. */
  readonly busyTimeout: number
  /** When the transaction of this connection was requested, by `performance.now`. */
  readonly asked?: number | undefined
  readonly waiting?: Waiting | undefined
  readonly contention?: LockContention | undefined
  /** Whether the file was opened to be read alone. */
  readonly readonly?: boolean | undefined
  /** Waits for a turn between transactions, for the statements outside of them. */
  readonly inTurn?: SqlConnection.Borrower | undefined
  readonly executeStream: SqlConnection.Connection["executeStream"]
}

export interface SqliteConnection extends SqlConnection.Connection {
  /** Runs a statement per set of parameters, and gives the id of the row that was last inserted after each. */
  readonly executeEach: (
    sql: string,
    parameters: Iterable<ReadonlyArray<unknown>>
  ) => Effect.Effect<ReadonlyArray<number>, SqlError.SqlError>
}

export const isSqliteConnection = (connection: SqlConnection.Connection): connection is SqliteConnection =>
  Predicate.hasProperty(connection, "executeEach")

export interface SqliteSqlClient extends SqlClient.SqlClient {
  /** The connection for statements outside of transactions. */
  readonly outsideTransactions: SqliteConnection
}

export const isSqliteSqlClient = (sql: SqlClient.SqlClient): sql is SqliteSqlClient =>
  Predicate.hasProperty(sql, "outsideTransactions")

/** A connection on an open database. Every call runs one statement synchronously. */
export const make = (
  database: DatabaseSync,
  statements: SqliteStatements.SqliteStatements,
  options: Options
): SqliteConnection => {
  // When the disk is full, SQLite itself rolls back; later statements must fail too, or they would run outside of it.
  let lost: SqlError.SqlError | undefined

  const stopWriting = () => database.exec("PRAGMA query_only = ON")

  const execute = <Params, Result, A>(
    run: (sql: string, params: Params, mode: SqliteStatements.ReadMode) => Result,
    sql: string,
    params: Params,
    arrays: boolean,
    f: (result: Result) => A,
    inTurn: SqlConnection.Borrower | null | undefined = options.inTurn,
    asked: number | undefined = options.asked
  ): Effect.Effect<A, SqlError.SqlError> =>
    Effect.withFiber((fiber) => {
      const inTransaction = database.isTransaction
      const later = (turn: SqlConnection.Borrower) => {
        const now = performance.now()
        return turn(() => execute(run, sql, params, arrays, f, null, now))
      }
      if (inTransaction && inTurn != null) return later(inTurn)
      if (lost !== undefined) return Effect.fail(lost)
      const mode = { arrays, bigints: fiber.getRef(SqlClient.SafeIntegers) }
      const attempt = () => {
        if (options.contention?.hasSyncFailed()) stopWriting()
        try {
          return f(run(sql, params, mode))
        } catch (cause) {
          // The fsync of the next commit could succeed without the lost pages.
          if (isUnsynced(cause)) {
            options.contention?.reportSyncFailure()
            stopWriting()
          }
          throw cause
        }
      }
      try {
        return Effect.succeed(attempt())
      } catch (cause) {
        if (!inTransaction && isBusy(cause)) {
          if (inTurn != null) return later(inTurn)
          const { busyTimeout: timeout, contention, waiting } = options
          return whileBusy({ try: attempt, catch: held, timeout, asked, waiting, contention })
        }
        const error = toError(cause)
        if (inTransaction && !database.isTransaction) lost = error
        return Effect.fail(error)
      }
    })

  const toError = (cause: unknown) =>
    toSqlError(options.readonly === true ? withReadOnly(cause) : cause, "execute the statement")

  /** The error of a lock timeout names the file. */
  const held = (cause: unknown) =>
    toError(isBusy(cause) && Predicate.isError(cause) ? withHolder(cause, options.filename) : cause)

  const rows = (result: SqliteStatements.Result): ReadonlyArray<object> => ("changes" in result ? [] : result)

  // The types of node:sqlite do not know that `setReturnArrays` makes arrays of the rows.
  const values = (result: SqliteStatements.Result) => rows(result) as ReadonlyArray<ReadonlyArray<unknown>>

  const transformed =
    (transform: Parameters<SqlConnection.Connection["execute"]>[2]) => (result: SqliteStatements.Result) =>
      transform === undefined ? rows(result) : transform(rows(result))

  return {
    execute: (sql, params, transform) => execute(statements.run, sql, params, false, transformed(transform)),
    executeRaw: (sql, params) => execute(statements.run, sql, params, false, identity),
    executeValues: (sql, params) => execute(statements.run, sql, params, true, values),
    executeUnprepared: (sql, params, transform) =>
      execute(statements.runOnce, sql, params, false, transformed(transform)),
    executeValuesUnprepared: (sql, params) => execute(statements.runOnce, sql, params, true, values),
    executeStream: options.executeStream,
    executeEach: (sql, parameters) => execute(statements.runEach, sql, parameters, true, identity)
  }
}

const isRead = (sql: string): boolean => /^\s*(?:SELECT|WITH(?![^]*\b(?:INSERT|UPDATE|DELETE)\b))\b/i.test(sql)

/** Sends the reads of a connection to the one that `beside` names, if any, so that they wait for no transaction. */
export const readingBeside = <E>(
  connection: SqliteConnection,
  beside: () => Effect.Effect<SqliteConnection, E> | undefined
): SqliteConnection => {
  const on = <A>(
    sql: string,
    run: (on: SqliteConnection) => Effect.Effect<A, SqlError.SqlError>
  ): Effect.Effect<A, SqlError.SqlError> => {
    const other = beside()
    if (other === undefined || !isRead(sql)) return run(connection)
    return Effect.matchEffect(other, { onFailure: () => run(connection), onSuccess: run })
  }
  return {
    ...connection,
    execute: (sql, params, transform) => on(sql, (one) => one.execute(sql, params, transform)),
    executeValues: (sql, params) => on(sql, (one) => one.executeValues(sql, params))
  }
}

/**
 * Whether a stream gives rows as arrays of values, which takes a third of the time of objects. `SqlClient` has no parameter
 * for it.
 */
export const StreamedValues = Context.Reference<boolean>("@roster/server/StreamedValues", {
  defaultValue: () => false
})

/** Enough rows to amortise a chunk, and few enough not to delay other requests. */
const chunkSize = 500

/** Streams the rows of a query in chunks. The query ends with the stream. */
export const streamFrom =
  (statements: SqliteStatements.SqliteStatements): SqlConnection.Connection["executeStream"] =>
  (sql, params, transform) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const bigints = yield* SqlClient.SafeIntegers
        const arrays = yield* StreamedValues
        const iterator = yield* Effect.acquireRelease(
          Effect.try({
            try: () => statements.iterate(sql, params, { arrays, bigints }),
            catch: (cause) => toSqlError(cause, "start the stream")
          }),
          // Fails only if the database was closed before the stream, which has ended the read.
          (iterator) => Effect.ignore(Effect.try(() => iterator.return?.()))
        )
        // Some versions of Node start the query again when `next` is called after the end.
        let done = false
        const pull = Effect.suspend((): Pull.Pull<Array.NonEmptyReadonlyArray<object>, SqlError.SqlError> => {
          const chunk: Array<object> = []
          try {
            while (!done && chunk.length < chunkSize) {
              const next = iterator.next()
              if (next.done === true) done = true
              else chunk.push(next.value)
            }
          } catch (cause) {
            return Effect.fail(toSqlError(cause, "read the next rows"))
          }
          const rows = transform === undefined || arrays ? chunk : transform(chunk)
          return Array.isReadonlyArrayNonEmpty(rows) ? Effect.succeed(rows) : Cause.done()
        })
        // Let the other fibers run between chunks.
        return Stream.fromPull(Effect.succeed(Effect.andThen(Effect.yieldNow, pull)))
      })
    )
