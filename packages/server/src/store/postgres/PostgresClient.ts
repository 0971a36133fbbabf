/**
 * The `SqlClient` of `effect/sql` on PostgreSQL. A transaction that another one, or the loss of its connection, prevented
 * is repeated as a whole. (docs/decisions/postgres.md)
 */
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import type { Config } from "@effect/sql-pg/PgPool"
import type * as PgTypes from "@effect/sql-pg/PgTypes"
import {
  Cause,
  Context,
  type Duration,
  Effect,
  Layer,
  Option,
  Random,
  Redacted,
  Result,
  type Scope,
  Stream
} from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { StreamedValues } from "../sqlite/SqliteConnection.ts"
import { registerGauge } from "../../metrics/ObservableMetric.ts"
import { routeOf } from "./PostgresAddress.ts"
import { makePlaces } from "../../threads/FairQueue.ts"
import { makeQuota } from "../../threads/Quota.ts"
import { monotonicMillis } from "../../threads/Slices.ts"
import {
  AnswerWithin,
  atWork,
  ConnectionUse,
  defaultConnections,
  type PostgresOptions,
  NoRepeat,
  sharedConnections
} from "./PostgresOptions.ts"
import {
  isCommitLost,
  isLockTimeout,
  mayRepeat,
  noAnswer,
  notLoaded,
  ofCommit,
  PoolExhausted,
  toSqlError
} from "./PostgresError.ts"
import * as PostgresSessions from "./PostgresSessions.ts"

/** How long a call waits for a connection of the pool. */
export const defaultAcquireTimeout: Duration.Input = "5 seconds"

/** The longest statement, in milliseconds: others wait for its locks. */
export const defaultStatementMillis = 60_000

/** The calls of an account that have a connection or wait for one, for each connection that they may take. */
const callsPerConnection = 32

/** The calls of all accounts, for each connection that they may take. */
const allCallsPerConnection = 128

/**
 * How long, in milliseconds, a statement of a service waits for the lock of another one. Then its call gives its connection
 * to those who wait for one, and begins again when it is its turn.
 */
const lockMillis = 500

/** The connections that one account holds, of so many that all share: others always get some. */
const ofOneAccount = (shared: number): number => Math.max(Math.ceil(shared / 2), shared - 2)

/** How often a transaction is begun before its failure is told; those after a wait for a lock do not count. */
export const maximumTransactionAttempts = 10

/** What a transaction came to. Code between it and its failed statement, which knows nothing of it, may have made another error. */
interface Attempt {
  failure: SqlError.SqlError | undefined
}
const CurrentAttempt = Context.Reference<Attempt | undefined>("@roster/server/TransactionAttempt", {
  defaultValue: () => undefined
})

/**
 * The optional package, imported here and nowhere else: a bundler goes on without a module that it cannot find only where
 * the `await` of its import stands in a `try`. (docs/decisions/runtimes.md)
 */
const importDriver = async () => {
  try {
    const PgClient = await import("@effect/sql-pg/PgClient")
    const PgPool = await import("@effect/sql-pg/PgPool")
    const PgProtocol = await import("@effect/sql-pg/PgProtocol")
    const PgTypes = await import("@effect/sql-pg/PgTypes")
    return Result.succeed({ PgClient, PgPool, PgProtocol, PgTypes })
  } catch (cause) {
    return Result.fail(notLoaded(cause))
  }
}

type Driver = Result.Result.Success<Awaited<ReturnType<typeof importDriver>>>

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** How values go to the database and come from it. */
const makeTypes = ({ CodecError, makeRegistry, OID }: Driver["PgTypes"]): PgTypes.Registry => {
  const outOfRange = new CodecError({ message: "a whole number beyond 2^53 cannot be read as a number" })
  /** Whole numbers of 8 bytes as numbers, as SQLite gives them. */
  const int8: PgTypes.Codec<number | bigint> = {
    encode: (value) => {
      const bytes = new Uint8Array(8)
      new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
      return Result.succeed(bytes)
    },
    decode: (bytes) => {
      const value = Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigInt64(0))
      return Number.isSafeInteger(value) ? Result.succeed(value) : Result.fail(outOfRange)
    }
  }
  /**
   * Texts as they are. The codec of the driver drops a U+FEFF at the beginning of a text with a U+FFFD.
   * (docs/upstream/sql-pg-byte-order-mark.md)
   */
  const text: PgTypes.Codec<string> = {
    encode: (value) => Result.succeed(encoder.encode(value)),
    decode: (bytes) =>
      Result.try({
        try: () => decoder.decode(bytes),
        catch: () => new CodecError({ message: "a text is not UTF-8" })
      })
  }
  const types = makeRegistry()
  types.register(OID.int8, int8, { arrayOid: OID.int8Array })
  types.register(OID.text, text, { arrayOid: OID.textArray })
  return types
}

type Run = <A>(effect: Effect.Effect<A, SqlError.SqlError>, statement: string) => Effect.Effect<A, SqlError.SqlError>

/** What executes statements by `run`. */
const executing = (connection: PostgresSessions.Asked, run: Run): Omit<SqlConnection.Connection, "executeStream"> => {
  const rows = (statement: string, params: ReadonlyArray<unknown>, prepare: boolean) =>
    run(
      Effect.map(connection.query(statement, params, prepare), (result) => result.rows),
      statement
    )
  const transformed =
    (prepare: boolean): SqlConnection.Connection["execute"] =>
    (statement, params, transform) =>
      transform === undefined
        ? rows(statement, params, prepare)
        : Effect.map(rows(statement, params, prepare), transform)
  return {
    execute: transformed(true),
    executeUnprepared: transformed(false),
    executeRaw: (statement, params) => run(connection.query(statement, params), statement),
    executeValues: (statement, params) => run(connection.queryValues(statement, params), statement),
    executeValuesUnprepared: (statement, params) => run(connection.queryValues(statement, params, false), statement)
  }
}

/** A connection whose statements run by `run`. */
const connectionOf = (connection: PostgresSessions.Session, run: Run): SqlConnection.Connection => ({
  ...executing(connection, run),
  // Within a transaction. The client has no transforms.
  executeStream: (statement, params) => Stream.mapError(connection.stream(statement, params), toSqlError)
})

/** The rows that one statement of a stream fetches. */
const fetchedRows = 2000

/**
 * Streams the rows of a query by a cursor, which reads one snapshot. The time of a statement is that of a part, and a reader
 * that is slow holds back no statement.
 */
const byCursor =
  (connection: PostgresSessions.Session): SqlConnection.Connection["executeStream"] =>
  (statement, params) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const arrays = yield* StreamedValues
        yield* Effect.acquireRelease(connection.query("BEGIN READ ONLY"), () =>
          Effect.ignore(connection.query("ROLLBACK"))
        )
        yield* connection.query(`DECLARE roster_rows NO SCROLL CURSOR FOR ${statement}`, params, false)
        // Not prepared: its columns are those of the cursor.
        const next = `FETCH ${fetchedRows} FROM roster_rows`
        const fetched: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> = arrays
          ? connection.queryValues(next, [], false)
          : Effect.map(connection.query(next, [], false), ({ rows }) => rows)
        return Stream.paginate(undefined, () =>
          Effect.map(
            fetched,
            (rows) => [rows, rows.length < fetchedRows ? Option.none() : Option.some(undefined)] as const
          )
        )
      })
    ).pipe(Stream.mapError(toSqlError))

const isRead = (statement: string): boolean => /^\s*SELECT\b/i.test(statement)

/** Whether a statement waits for nobody, so that others may wait behind it. */
const isPlainRead = (statement: string): boolean =>
  isRead(statement) && !/\bFOR (?:NO KEY |KEY )?(?:UPDATE|SHARE)\b/.test(statement)

/** Runs an effect again, after a pause, as long as it may do better. */
const repeating = <A, E, R>(
  attempt: Effect.Effect<A, E, R>,
  statementMillis: number,
  preventedBy: (cause: Cause.Cause<E>) => SqlError.SqlError | undefined
): Effect.Effect<A, E, R> => {
  const from = (times: number, deadline?: number): Effect.Effect<A, E, R> =>
    Effect.catchCause(attempt, (cause) =>
      Effect.withFiber((fiber) => {
        const error = Cause.hasInterrupts(cause) ? undefined : preventedBy(cause)
        if (error === undefined || !mayRepeat(error)) return Effect.failCause(cause)
        const now = monotonicMillis()
        // As long as one statement may wait.
        const until = deadline ?? now + (fiber.getRef(AnswerWithin) ?? statementMillis)
        const hasWaited = isLockTimeout(error)
        if (hasWaited ? now >= until : times >= maximumTransactionAttempts) return Effect.failCause(cause)
        // Full jitter, so that transactions that met do not meet again. Nine pauses take half a second on average.
        const pause = Effect.flatMap(Random.next, (share) => Effect.sleep(share * 2 ** times))
        return Effect.andThen(pause, from(hasWaited ? times : times + 1, until))
      })
    )
  return from(1)
}

const sqlErrorIn = (cause: Cause.Cause<unknown>): SqlError.SqlError | undefined => {
  const error = Cause.findErrorOption(cause)
  return Option.isSome(error) && SqlError.isSqlError(error.value) ? error.value : undefined
}

const isLoss = (failure: unknown): failure is SqlError.SqlError =>
  SqlError.isSqlError(failure) && failure.reason._tag === "ConnectionError"

/** The loss of its connection, of which a ROLLBACK or the release of the connection died. */
const lossIn = (cause: Cause.Cause<unknown>): SqlError.SqlError | undefined =>
  Cause.hasInterrupts(cause)
    ? undefined
    : cause.reasons.flatMap((reason) => (Cause.isDieReason(reason) ? [reason.defect] : [])).find(isLoss)

/**
 * Says of a transaction that died of the loss of its connection what that means. Effect makes defects of all errors beside a
 * finalizer that dies, so that it does not matter what they were: unless its COMMIT was sent, the transaction is undone and may
 * begin again. If it failed with nothing else, its COMMIT may have been done.
 */
const withoutLosses = <E>(cause: Cause.Cause<E>, attempt: Attempt): Effect.Effect<never, E | SqlError.SqlError> => {
  const lost = lossIn(cause)
  if (lost === undefined) return Effect.failCause(cause)
  const failures = cause.reasons.flatMap((reason): ReadonlyArray<unknown> =>
    Cause.isDieReason(reason) ? [reason.defect] : Cause.isFailReason(reason) ? [reason.error] : []
  )
  const commit = failures.find(isCommitLost)
  if (commit !== undefined) return Effect.fail(commit)
  if (!failures.every(isLoss)) attempt.failure = lost
  return Effect.fail(attempt.failure ?? ofCommit(lost))
}

const notConnected = (cause: Error) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, operation: "connect" }) })

const poolExhausted = notConnected(new PoolExhausted("all connections to PostgreSQL are in use"))

/**
 * Opens the pools. Nothing is connected before the first statement. Some of the connections may be kept for short calls (default:
 * none), whose reads share one of them; then the accounts take turns for the others.
 */
export const make = Effect.fnUntraced(function* (options: PostgresOptions, kept = 0, session = atWork) {
  const statementMillis = options.statementMillis ?? defaultStatementMillis
  const { PgClient, PgPool, PgProtocol, PgTypes } = yield* Effect.mapError(
    Effect.flatMap(Effect.promise(importDriver), Effect.fromResult),
    notConnected
  )
  const route = yield* Effect.mapError(Effect.fromResult(routeOf(Redacted.value(options.url))), notConnected)
  const { stream } = route
  const maxConnections = options.maxConnections ?? defaultConnections
  const shared = sharedConnections(maxConnections, kept)
  const config: Config = {
    url: options.url,
    ssl: route.ssl,
    ...(stream === undefined ? {} : { stream: () => stream(PgProtocol.makeParser) }),
    password: options.password,
    applicationName: session,
    keepAlive: "10 seconds",
    types: makeTypes(PgTypes),
    startupParameters: {
      statement_timeout: `${statementMillis}`,
      // What a stopped process holds is free again after this time.
      idle_in_transaction_session_timeout: `${statementMillis}`,
      timezone: "UTC",
      // It compiles a statement whose rows it overestimates for longer than it takes to run it.
      jit: "off"
    }
  }
  const ofReads = Math.min(1, kept)
  const pool = yield* PgPool.make({ ...config, maxConnections: maxConnections - ofReads })
  const reads = kept === 0 ? pool : yield* PgPool.make({ ...config, maxConnections: ofReads, multiplex: true })
  const sessions = yield* PostgresSessions.make(pool, reads, statementMillis, kept === 0 ? 0 : lockMillis)
  let used = 0
  let waiting = 0
  yield* registerGauge("roster_pool_connections_used", "Connections to PostgreSQL in use", () => used)
  yield* registerGauge("roster_pool_waiting", "Calls that wait for a connection to PostgreSQL", () => waiting)
  const counted = <A>(connection: Effect.Effect<A, SqlError.SqlError, Scope.Scope>) =>
    Effect.suspend(() => {
      waiting += 1
      return Effect.ensuring(
        connection,
        Effect.sync(() => (waiting -= 1))
      )
    })
  const places = makePlaces(shared, ofOneAccount(shared))
  const calls = makeQuota({ own: callsPerConnection * shared, all: allCallsPerConnection * shared })
  /** Waits for the turn of the account, so that no account takes the connections of all others. */
  const turn =
    kept === 0
      ? Effect.void
      : Effect.flatMap(ConnectionUse, ({ account, isShort }) =>
          isShort
            ? Effect.void
            : Effect.andThen(
                Effect.mapError(calls.hold(account), () => poolExhausted),
                places.take(account)
              )
        )
  const acquire = Effect.suspend(() => {
    let hasTurn = false
    const connected = Effect.suspend(() => {
      hasTurn = true
      return sessions.take
    })
    return Effect.timeoutOrElse(counted(Effect.andThen(turn, connected)), {
      duration: options.acquireTimeout ?? defaultAcquireTimeout,
      orElse: () => Effect.fail(hasTurn && used < maxConnections - ofReads ? noAnswer("connect") : poolExhausted)
    })
  }).pipe(
    Effect.mapError(toSqlError),
    Effect.tap(() => {
      used += 1
      return Effect.addFinalizer(() => Effect.sync(() => (used -= 1)))
    })
  )

  const outside: Run = (effect, statement) =>
    Effect.mapError(effect, (error) => {
      const known = toSqlError(error)
      return isRead(statement) ? known : ofCommit(known)
    })
  const ask: PostgresSessions.Asked = {
    query: (...asked) =>
      isPlainRead(asked[0])
        ? sessions.read.query(...asked)
        : Effect.scoped(Effect.flatMap(acquire, ({ query }) => query(...asked))),
    queryValues: (...asked) =>
      isPlainRead(asked[0])
        ? sessions.read.queryValues(...asked)
        : Effect.scoped(Effect.flatMap(acquire, ({ queryValues }) => queryValues(...asked)))
  }
  /** For short calls. */
  const short: SqlConnection.Connection = {
    ...executing(ask, outside),
    executeStream: (statement, params) =>
      Stream.unwrap(Effect.map(acquire, ({ stream }) => Stream.mapError(stream(statement, params), toSqlError)))
  }
  const borrower: SqlConnection.Borrower = (f) =>
    repeating(
      Effect.withFiber((fiber) =>
        kept > 0 && fiber.getRef(ConnectionUse).isShort
          ? f(short)
          : Effect.scoped(Effect.flatMap(acquire, (connection) => f(connectionOf(connection, outside))))
      ),
      statementMillis,
      sqlErrorIn
    )

  const transactionAcquirer = Effect.gen(function* () {
    const attempt = yield* CurrentAttempt
    const noted = <A, R>(effect: Effect.Effect<A, SqlError.SqlError, R>) =>
      Effect.tapError(effect, (error) =>
        Effect.sync(() => {
          if (attempt !== undefined) attempt.failure ??= error
        })
      )
    const connection = yield* noted(acquire)
    return connectionOf(connection, (effect) => noted(Effect.mapError(effect, toSqlError)))
  })

  const client = yield* SqlClient.make({
    // For streams only.
    acquirer: Effect.map(acquire, (connection) => ({
      ...connectionOf(connection, outside),
      executeStream: byCursor(connection)
    })),
    borrower,
    transactionAcquirer,
    compiler: PgClient.makeCompiler(),
    driver: "postgres",
    spanAttributes: [["db.system.name", "postgresql"]],
    prepareTransactionControls: true,
    commit: (connection) =>
      Effect.flatMap(Effect.mapError(connection.executeRaw("COMMIT", []), ofCommit), (result) =>
        // `executeRaw` of `connectionOf` gives what the driver gives. PostgreSQL answers a COMMIT by ROLLBACK if a
        // statement of
        // the transaction failed.
        (result as PgConnection.Result).command === "ROLLBACK"
          ? Effect.fail(
              new SqlError.SqlError({
                reason: new SqlError.UnknownError({ cause: new Error("the transaction had failed before its COMMIT") })
              })
            )
          : Effect.void
      ),
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })

  const { withTransaction: once } = client
  /**
   * A savepoint undoes what failed within it, so that the outer transaction may go on: what it failed with counts only if that may be
   * repeated. Where the connection broke, there is nothing to go on with.
   */
  const nested: SqlClient.SqlClient["withTransaction"] = (effect) =>
    Effect.flatMap(CurrentAttempt, (attempt) => {
      const before = attempt?.failure
      return Effect.catchCause(once(effect), (cause) => {
        const lost = lossIn(cause)
        if (attempt !== undefined && lost !== undefined) attempt.failure = lost
        else if (attempt?.failure !== undefined && !mayRepeat(attempt.failure)) attempt.failure = before
        return lost === undefined ? Effect.failCause(cause) : Effect.fail(lost)
      })
    })
  const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
    Effect.withFiber((fiber) => {
      if (Option.isSome(Context.getOption(fiber.context, client.transactionService))) return nested(effect)
      let current: Attempt = { failure: undefined }
      const attempt = Effect.suspend(() => {
        const begun: Attempt = { failure: undefined }
        current = begun
        return Effect.catchCause(Effect.provideService(once(effect), CurrentAttempt, begun), (cause) =>
          withoutLosses(cause, begun)
        )
      })
      if (fiber.getRef(NoRepeat)) return attempt
      return repeating(attempt, statementMillis, (cause) =>
        isCommitLost(sqlErrorIn(cause)) ? undefined : current.failure
      )
    })

  return Object.assign(client, { withTransaction })
})

/** Provides the client, whose connections close with the layer. */
export const layer = (
  options: PostgresOptions,
  kept?: number,
  session?: string
): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options, kept, session)).pipe(Layer.provide(Reactivity.layer))
