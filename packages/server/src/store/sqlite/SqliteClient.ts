/** The `SqlClient` of `effect/sql` on the SQLite of Node, for a file or in memory. */
import { KnownFields } from "@roster/domain/internal"
import { Duration, Effect, Layer, Scope, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import * as GroupCommit from "./GroupCommit.ts"
import { Waiting } from "./SqliteBusy.ts"
import * as SqliteConnection from "./SqliteConnection.ts"
import * as SqliteStatements from "./SqliteStatements.ts"
import { type StoreError, unavailable } from "./StoreError.ts"
import * as StoreFile from "./StoreFile.ts"
import * as LockContention from "./LockContention.ts"

/** Options of the client of a database file. */
export interface SqliteClientOptions extends StoreFile.Options {
  /** Shared with other connections of this process on the same file. */
  readonly contention?: LockContention.LockContention | undefined
}

const optionFields = KnownFields.fieldsOf<SqliteClientOptions>("a database", {
  filename: true,
  busyTimeout: true,
  readonly: true,
  alone: true,
  prepare: true,
  contention: true
})

/**
 * Opens the database with one connection for reads and writes; a stream outside a transaction reads its own snapshot, and
 * a read while a transaction is open what was committed before, on a connection of its own.
 * An open stream keeps the WAL growing; on `":memory:"` it collects all rows first. Integers beyond 2^53 cannot be read
 * unless `SqlClient.SafeIntegers` is provided.
 * @internal
 */
export const make = Effect.fnUntraced(function* (options: SqliteClientOptions) {
  const filename = StoreFile.toPath(options.filename)
  const refused = KnownFields.refusal(optionFields, options)
  if (refused !== undefined) return yield* unavailable(filename, `${refused.message}.`)
  const busyTimeout = Duration.toMillis(options.busyTimeout ?? StoreFile.defaultBusyTimeout)
  const database = yield* StoreFile.open(options)
  const statements = SqliteStatements.make(database)

  const streamOutside: SqlConnection.Connection["executeStream"] =
    filename === StoreFile.memory
      ? (sql, params, transform) =>
          Stream.fromIterableEffect(
            Effect.flatMap(
              SqliteConnection.StreamedValues,
              (arrays): Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> =>
                acquirers.borrower((connection) =>
                  arrays ? connection.executeValues(sql, params) : connection.execute(sql, params, transform)
                )
            )
          )
      : (sql, params, transform) =>
          StoreFile.openReader(filename, busyTimeout, options.prepare).pipe(
            Effect.mapError(
              (error) => new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: error }) })
            ),
            Effect.map((reader) => SqliteConnection.streamFrom(SqliteStatements.make(reader))(sql, params, transform)),
            Stream.unwrap
          )
  const contention = options.contention ?? LockContention.make()
  const shared = { filename, busyTimeout, contention, waiting: new Waiting(), readonly: options.readonly }
  const connection = SqliteConnection.make(database, statements, { ...shared, executeStream: streamOutside })

  // Each transaction has its own connection object, which holds the error that ended it.
  const leased = (asked?: number) =>
    SqliteConnection.make(database, statements, {
      ...shared,
      asked,
      executeStream: SqliteConnection.streamFrom(statements)
    })
  const acquirers = SqlClient.makeSqliteAcquirers<SqlConnection.Connection>({
    connection: Effect.succeed(connection),
    semaphore: Semaphore.makeUnsafe(1),
    isTransaction: () => database.isTransaction
  })

  const inTurn = SqliteConnection.make(database, statements, {
    ...shared,
    executeStream: streamOutside,
    inTurn: acquirers.borrower
  })
  const openBeside = StoreFile.openReader(filename, busyTimeout, options.prepare).pipe(
    Effect.provideService(Scope.Scope, yield* Effect.scope),
    Effect.map((reader) =>
      SqliteConnection.make(reader, SqliteStatements.make(reader), { ...shared, executeStream: streamOutside })
    )
  )
  const beside = yield* Effect.cached(openBeside)
  const outsideTransactions =
    filename === StoreFile.memory
      ? inTurn
      : SqliteConnection.readingBeside(inTurn, () => (database.isTransaction ? beside : undefined))

  const spanAttributes: ReadonlyArray<readonly [string, unknown]> = [["db.system.name", "sqlite"]]
  // Takes the write lock at the start, where it can wait: of two readers only one can become a writer.
  const beginTransaction = options.readonly === true ? "BEGIN" : "BEGIN IMMEDIATE"
  const ungrouped = yield* SqlClient.make({
    // For streams only: with a permit held until the stream ends, a write inside it would deadlock.
    acquirer: Effect.succeed(connection),
    borrower: (f) => f(outsideTransactions),
    // For `reserve`; transactions use `GroupCommit`.
    transactionAcquirer: Effect.map(acquirers.transactionAcquirer, () => leased()),
    onCommitFailure: acquirers.onCommitFailure,
    isTransaction: acquirers.isTransaction,
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    spanAttributes,
    beginTransaction
  })
  // After a rollback by SQLite itself its savepoints are gone too.
  const cleanUp = (connection: SqlConnection.Connection, statement: string) =>
    Effect.suspend(() => (database.isTransaction ? GroupCommit.run(connection, statement) : Effect.void))
  const withTransaction = SqlClient.makeWithTransaction({
    transactionService: ungrouped.transactionService,
    spanAttributes,
    ...GroupCommit.make({
      lease: acquirers.transactionAcquirer,
      member: leased,
      isTransaction: () => database.isTransaction,
      begin: beginTransaction,
      onCommitFailure: acquirers.onCommitFailure
    }),
    savepoint: (connection, id) => GroupCommit.run(connection, `SAVEPOINT roster_${id}`),
    releaseSavepoint: (connection, id) => cleanUp(connection, `RELEASE SAVEPOINT roster_${id}`),
    rollbackSavepoint: (connection, id) => cleanUp(connection, `ROLLBACK TO SAVEPOINT roster_${id}`)
  })
  const client: SqliteConnection.SqliteSqlClient = Object.assign(ungrouped, {
    withTransaction,
    outsideTransactions
  })

  return client
})

/** Provides the client of a database file, which is closed with the layer. */
export const layer = (options: SqliteClientOptions): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))
