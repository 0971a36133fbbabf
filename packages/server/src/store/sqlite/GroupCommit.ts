/**
 * Transactions that share one commit and so one fsync: those that opt in and come together are savepoints of one. Each
 * rolls back alone, and none is acknowledged before the commit. (docs/decisions/durability.md)
 */
import { Cause, Context, Deferred, Effect, Exit, Scope, Semaphore } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"
import { afterTurn, monotonicMillis } from "../../threads/Slices.ts"

/** Whether a transaction may share its commit. `SqlClient.withTransaction` has no parameter for it. */
const SharedCommit = Context.Reference<boolean>("@roster/server/SharedCommit", { defaultValue: () => false })

/** Lets small transactions share commits: a savepoint copies changed pages, and a group waits for its slowest one. */
export const sharingCommit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  SharedCommit,
  true
)

/** Whether a transaction is running here that nothing else shares: those within it are a part of it. */
const AtomicTransaction = Context.Reference<boolean>("@roster/server/AtomicTransaction", { defaultValue: () => false })

/** Runs an effect in the atomic transaction around it, or else in its own transaction or savepoint. */
export const inTransaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.flatMap(AtomicTransaction, (isPart): Effect.Effect<A, E | SqlError.SqlError, R> =>
    isPart ? effect : sql.withTransaction(effect)
  )

/** Runs an effect in a transaction without savepoints, which are slow: a failure of any part has to fail all of it. */
export const inAtomicTransaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  inTransaction(sql, Effect.provideService(effect, AtomicTransaction, true))

/** A group takes members for as many milliseconds as the last commit took, within these bounds. */
const shortest = 5
const longest = 100

const mostMembers = 64

/**
 * One open transaction, and those who share it:
 *
 *     no group --- a member leases the connection and begins --> open
 *     open ------- the next member takes its turn -------------> open
 *     open ------- due, full, failed or without members -------> no group, after COMMIT or ROLLBACK
 *
 * Each member: waits for its turn (`turn`) --> runs (`running`) --> has given its turn (`done`) --> knows the outcome.
 */
interface Group {
  /** Holds the connection. */
  readonly scope: Scope.Closeable
  readonly since: number
  /** Members whose work is done, each waiting for the commit. */
  readonly done: Array<Deferred.Deferred<void, SqlError.SqlError>>
  /** Whether the next member that finishes has to commit, at once or when the event loop has turned. */
  due: "no" | "soon" | "now"
  /** Why SQLite itself rolled the transaction back, such as a full disk. */
  failure: SqlError.SqlError | undefined
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Runs a statement without an answer. */
export const run = (connection: SqlConnection.Connection, statement: string): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(connection.execute(statement, [], undefined))

/** The steps of `SqlClient.makeWithTransaction` for one connection. */
export const make = (options: {
  /** Holds the connection until the scope closes. */
  readonly lease: Effect.Effect<SqlConnection.Connection, SqlError.SqlError, Scope.Scope>
  /** A view of the connection for one member, and when it asked for it. */
  readonly member: (asked?: number) => SqlConnection.Connection
  readonly isTransaction: () => boolean
  readonly begin: string
  readonly onCommitFailure: (connection: SqlConnection.Connection) => Effect.Effect<void, SqlError.SqlError>
}) => {
  // Members run one after another, since savepoints nest.
  const turn = Semaphore.makeUnsafe(1)
  /** Holds the turn of the member that runs. */
  let running: Scope.Closeable | undefined
  let group: Group | undefined
  let lastCommit = 0

  /** The member that begins the transaction needs no savepoint: alone in it, it is rolled back as a whole. */
  const isFirst = () => group?.done.length === 0

  const fail = (error: SqlError.SqlError) =>
    Effect.sync(() => {
      if (group !== undefined) group.failure = error
    })

  const undo = (connection: SqlConnection.Connection) =>
    Effect.suspend(() => (options.isTransaction() ? Effect.orDie(run(connection, "ROLLBACK")) : Effect.void))

  const commit = (connection: SqlConnection.Connection) =>
    Effect.catchCause(run(connection, "COMMIT"), (cause) =>
      Effect.matchCauseEffect(options.onCommitFailure(connection), {
        // The connection is unusable now, which is a defect and no refusal.
        onFailure: (cleanup) => Effect.die(Cause.squash(Cause.combine(cause, cleanup))),
        onSuccess: () => Effect.failCause(cause)
      })
    )

  /** Commits the work of the members, if any, or rolls back, and reports the outcome to them. */
  const end = ({ done, failure, scope }: Group) => {
    // At once, so that nobody else ends it too.
    group = undefined
    const connection = options.member()
    const ending =
      failure !== undefined
        ? Effect.andThen(undo(connection), Effect.fail(failure))
        : done.length === 0
          ? undo(connection)
          : commit(connection)
    return Effect.gen(function* () {
      const started = monotonicMillis()
      const outcome = yield* Effect.exit(ending)
      lastCommit = monotonicMillis() - started
      yield* Scope.close(scope, Exit.void)
      for (const member of done) Deferred.doneUnsafe(member, outcome)
    })
  }

  const isFull = ({ done, due, since }: Group) =>
    due === "now" ||
    done.length >= mostMembers ||
    monotonicMillis() - since >= Math.min(longest, Math.max(shortest, lastCommit))

  const isOver = (current: Group) => current.failure !== undefined || current.done.length === 0 || isFull(current)

  /** Ends the group, or leaves it open for those that come within this turn of the event loop. */
  const giveTurn = (member: Scope.Closeable) =>
    Effect.suspend(() => {
      if (running !== member) return Effect.void
      running = undefined
      const give = Scope.close(member, Exit.void)
      const current = group
      if (current === undefined) return give
      if (isOver(current)) return Effect.ensuring(end(current), give)
      if (current.due === "no") {
        current.due = "soon"
        const endIfIdle = Effect.suspend(() => {
          current.due = "now"
          return group === current && running === undefined ? end(current) : Effect.void
        })
        return Effect.ensuring(afterTurn(endIfIdle), give)
      }
      return give
    })

  /** Acquires into a new scope, which is closed again if that is interrupted. */
  const hold = Effect.fnUntraced(function* <E>(restore: Restore, held: Effect.Effect<unknown, E, Scope.Scope>) {
    const scope = yield* Scope.make()
    yield* restore(Scope.provide(held, scope)).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
    return scope
  })

  return {
    acquireConnection: Effect.fnUntraced(function* (restore: Restore) {
      const isShared = yield* SharedCommit
      const asked = monotonicMillis()
      const member = yield* hold(restore, turn.takeScoped(1))
      running = member
      yield* Effect.addFinalizer(() => giveTurn(member))
      if (group !== undefined && (!isShared || isFull(group))) yield* end(group)
      if (group === undefined) {
        const scope = yield* hold(restore, options.lease)
        group = { scope, since: monotonicMillis(), done: [], due: "no", failure: undefined }
      }
      if (!isShared) group.due = "now"
      return options.member(asked)
    }),

    begin: (connection: SqlConnection.Connection, statement: string | undefined) =>
      Effect.suspend(() => run(connection, isFirst() ? (statement ?? options.begin) : "SAVEPOINT roster_member")),

    commit: (connection: SqlConnection.Connection) =>
      Effect.suspend(() => {
        if (!isFirst()) return run(connection, "RELEASE SAVEPOINT roster_member")
        // After a rollback by SQLite itself the connection gives its reason.
        return options.isTransaction() ? Effect.void : run(connection, "COMMIT")
      }).pipe(
        Effect.tapError(fail),
        Effect.andThen(
          Effect.suspend(() => {
            const done = Deferred.makeUnsafe<void, SqlError.SqlError>()
            group?.done.push(done)
            return Effect.andThen(running === undefined ? Effect.void : giveTurn(running), Deferred.await(done))
          })
        )
      ),

    /** Fails the whole group if the savepoint is gone, as after a rollback by SQLite itself. */
    rollback: (connection: SqlConnection.Connection) =>
      Effect.suspend(() =>
        isFirst()
          ? undo(connection)
          : Effect.andThen(
              run(connection, "ROLLBACK TO SAVEPOINT roster_member"),
              run(connection, "RELEASE SAVEPOINT roster_member")
            ).pipe(Effect.catch(fail))
      )
  }
}
