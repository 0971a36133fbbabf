/**
 * The connections to PostgreSQL, each for one caller at a time. A statement has a deadline here too, after which its
 * connection is closed: a database that hangs, or a host that went without a word, keeps none of its own, and TCP waits for
 * a quarter of an hour. (docs/decisions/postgres.md)
 */
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import type * as PgPool from "@effect/sql-pg/PgPool"
import { Effect, Exit, Option, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { clearTimeout, setImmediate, setTimeout } from "node:timers"
import { isReadOnly, noAnswer } from "./PostgresError.ts"
import { AnswerWithin } from "./PostgresOptions.ts"

/** How long, in milliseconds, an answer may be on its way after the database should have ended a statement. */
const maximumGrace = 5000

/** How long, in milliseconds, an answer may be on its way after the database was asked to end a statement. */
const cancelledMillis = 1000

/** How often all connections are made anew while the database takes no writes, in milliseconds. */
const renewedEvery = 1000

/** A connection that nobody else has. */
export type Session = Pick<PgConnection.PgConnection, "query" | "queryValues" | "stream">

/** What asks one statement, which may share its connection with others. */
export type Asked = Pick<PgConnection.PgConnection, "query" | "queryValues">

/**
 * Gives what takes a connection of a pool until the scope ends, and what asks short reads over the connections of another one, which
 * they share. A statement waits so many milliseconds for a lock (default: as long as it may take).
 */
export const make = Effect.fnUntraced(function* (
  pool: PgPool.PgPool,
  reads: PgPool.PgPool,
  statementMillis: number,
  lockMillis = 0
) {
  const grace = Math.min(statementMillis, maximumGrace)
  const fork = Effect.runForkWith(yield* Effect.context<never>())

  /** Connections of an earlier round may lead to what has become a replica. */
  let round = 0
  let renewed = -Infinity
  const renew = (): void => {
    const now = performance.now()
    if (now - renewed < renewedEvery) return
    renewed = now
    round++
  }

  /** Runs a statement of a connection; `close` ends it, whatever it does. */
  const run = <A>(
    { interrupt }: PgConnection.PgConnection,
    close: Effect.Effect<void>,
    statement: Effect.Effect<A, SqlError.SqlError>
  ): Effect.Effect<A, SqlError.SqlError> =>
    Effect.withFiber((fiber) => {
      const within = fiber.getRef(AnswerWithin) ?? statementMillis
      if (within === Infinity) return statement
      let isDone = false
      let isLate = false
      const closeIfLate = (): void => {
        if (isDone) return
        isLate = true
        fork(close)
      }
      // What has arrived while this process was busy is read first.
      const end = () => setImmediate(closeIfLate)
      const cancel = () => {
        timer = setTimeout(end, cancelledMillis)
        fork(interrupt)
      }
      let timer = within < statementMillis ? setTimeout(cancel, within) : setTimeout(end, statementMillis + grace)
      return Effect.ensuring(
        Effect.mapError(statement, (error) => {
          if (isReadOnly(error)) renew()
          return isLate ? noAnswer("query") : error
        }),
        Effect.sync(() => {
          isDone = true
          clearTimeout(timer)
        })
      )
    })

  const known = new WeakMap<PgConnection.PgConnection, { readonly session: Session; readonly round: number }>()
  /** Pins a connection for good: the driver closes one whose pin is released while a statement runs. */
  const begin = Effect.fnUntraced(function* (connection: PgConnection.PgConnection) {
    const lease = yield* Scope.make()
    const own = yield* Scope.provide(connection.pin, lease)
    const close = Scope.close(lease, Exit.void)
    // Nobody else gets one whose transaction may be open, or whose settings are not its own.
    const orLeave = <A>(effect: Effect.Effect<A, SqlError.SqlError>) =>
      Effect.onError(effect, () => pool.invalidate(connection))
    const session: Session = {
      query: (...statement) => {
        const answer = run(own, close, own.query(...statement))
        return statement[0] === "ROLLBACK" ? orLeave(answer) : answer
      },
      queryValues: (...statement) => run(own, close, own.queryValues(...statement)),
      stream: own.stream
    }
    known.set(connection, { session, round })
    // Not as it connects: a pooler refuses what it does not know.
    if (lockMillis > 0) yield* orLeave(session.query(`SET lock_timeout = ${lockMillis}`, [], false))
    return session
  })
  const take: Effect.Effect<Session, SqlError.SqlError, Scope.Scope> = Effect.flatMap(pool.get, (connection) => {
    const before = known.get(connection)
    if (before === undefined) return begin(connection)
    return before.round === round ? Effect.succeed(before.session) : Effect.andThen(pool.invalidate(connection), take)
  })

  const begun = new WeakMap<PgConnection.PgConnection, number>()
  /** Asks over a shared connection. One whose answer is late is left to those that still wait for it, and then closed. */
  const shared = <A>(
    statement: (connection: PgConnection.PgConnection) => Effect.Effect<A, SqlError.SqlError>
  ): Effect.Effect<A, SqlError.SqlError> =>
    Effect.withFiber((fiber) => {
      let asked: PgConnection.PgConnection | undefined
      const answer = Effect.flatMap(
        reads.use((connection) => {
          asked = connection
          if (!begun.has(connection)) begun.set(connection, round)
          return begun.get(connection) === round
            ? Effect.asSome(statement(connection))
            : Effect.as(reads.invalidate(connection), Option.none<A>())
        }),
        // Not within, where it would wait for its own connection.
        Option.match({ onSome: Effect.succeed, onNone: () => shared(statement) })
      )
      return Effect.timeoutOrElse(answer, {
        duration: fiber.getRef(AnswerWithin) ?? statementMillis,
        orElse: () =>
          Effect.andThen(asked === undefined ? Effect.void : reads.invalidate(asked), Effect.fail(noAnswer("query")))
      })
    })
  const read: Asked = {
    query: (...statement) => shared(({ query }) => query(...statement)),
    queryValues: (...statement) => shared(({ queryValues }) => queryValues(...statement))
  }
  return { take, read }
})
