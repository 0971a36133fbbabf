/**
 * One commit for the writes of several requests. A commit is synced to the disk before anybody is answered, which takes
 * longer than most of what is written; so transactions that ask for it and come in the same moment are savepoints of one.
 * Each is undone alone where it fails, and none has happened before the commit that they share has succeeded.
 * (docs/decisions/durability.md)
 */
import { Cause, Context, Deferred, Effect, Exit, Scope, Semaphore } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"

/**
 * Whether a transaction shares its commit with others. That is for small ones: a savepoint keeps each page as it was, which
 * soon costs more than a sync, and who shares a commit waits for the last of them.
 */
export const SharedCommit = Context.Reference<boolean>("@roster/server/sqlite/SharedCommit", {
  defaultValue: () => false
})

/** Lets the transactions of an effect share their commits. */
export const sharingCommit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  SharedCommit,
  true
)

/**
 * After so many milliseconds a group takes no more, or after as many as the last commit took: who came first waits at most
 * about as long again as for its own commit.
 */
const shortest = 5
const longest = 100

const mostMembers = 64

interface Group {
  /** Holds the connection. */
  readonly scope: Scope.Closeable
  readonly since: number
  /** Those whose work is done. */
  readonly members: Array<Deferred.Deferred<void, SqlError.SqlError>>
  /** Whether whoever ends its work next has to commit. */
  due: boolean
  scheduled: boolean
  /** What ended the transaction before its time, as a full disk does. */
  failure: SqlError.SqlError | undefined
}

/** The steps of `SqlClient.makeWithTransaction` for one connection. */
export const make = (options: {
  /** Holds the connection until the scope closes. */
  readonly lease: Effect.Effect<SqlConnection.Connection, SqlError.SqlError, Scope.Scope>
  /** A view of the connection for one member, who asked for it at a time. */
  readonly member: (asked?: number) => SqlConnection.Connection
  readonly isTransaction: () => boolean
  readonly begin: string
  readonly onCommitFailure: (connection: SqlConnection.Connection) => Effect.Effect<void, SqlError.SqlError>
}) => {
  // The members of a group take turns: a savepoint belongs to whoever made it last.
  const turn = Semaphore.makeUnsafe(1)
  /** Holds the turn of who is at work. */
  let running: Scope.Closeable | undefined
  let group: Group | undefined
  let lastCommit = 0
  // Who began the transaction needs no savepoint: alone in it, it is undone as a whole.
  let isFirst = false

  const run = (connection: SqlConnection.Connection, statement: string) =>
    Effect.asVoid(connection.execute(statement, [], undefined))

  const fail = (error: SqlError.SqlError) =>
    Effect.sync(() => {
      if (group !== undefined) group.failure = error
    })

  /** Commits what the members did, or undoes what is left of nobody's, and tells them. */
  const end = Effect.fnUntraced(function* (ended: Group) {
    group = undefined
    const { failure, members, scope } = ended
    const connection = options.member()
    const started = performance.now()
    const outcome = yield* Effect.exit(
      failure !== undefined
        ? Effect.andThen(undo(connection), Effect.fail(failure))
        : members.length === 0
          ? undo(connection)
          : Effect.catchCause(run(connection, "COMMIT"), (cause) =>
              Effect.matchCauseEffect(options.onCommitFailure(connection), {
                // The connection is of no use any more, which nobody may take for a refusal.
                onFailure: (cleanup) => Effect.die(Cause.squash(Cause.combine(cause, cleanup))),
                onSuccess: () => Effect.failCause(cause)
              })
            )
    )
    lastCommit = performance.now() - started
    yield* Scope.close(scope, Exit.void)
    for (const member of members) Deferred.doneUnsafe(member, outcome)
  })

  const undo = (connection: SqlConnection.Connection) =>
    Effect.suspend(() => (options.isTransaction() ? Effect.orDie(run(connection, "ROLLBACK")) : Effect.void))

  const isFull = ({ due, members, since }: Group) =>
    due ||
    members.length >= mostMembers ||
    performance.now() - since >= Math.min(longest, Math.max(shortest, lastCommit))

  const isOver = (current: Group) => current.failure !== undefined || current.members.length === 0 || isFull(current)

  /** Ends the group, or leaves it for those who come before the event loop is through. */
  const giveTurn = (member: Scope.Closeable) =>
    Effect.suspend(() => {
      if (running !== member) return Effect.void
      const give = Effect.suspend(() => {
        running = undefined
        return Scope.close(member, Exit.void)
      })
      const current = group
      if (current === undefined) return give
      if (isOver(current)) return Effect.ensuring(end(current), give)
      if (!current.scheduled) {
        current.scheduled = true
        setImmediate(() => {
          current.due = true
          if (group === current && running === undefined) Effect.runFork(end(current))
        })
      }
      // Not a step later: the event loop may get through between two steps, and nobody else would end the group.
      running = undefined
      return Scope.close(member, Exit.void)
    })

  /** What is held in a scope of its own. Who is interrupted on the way gives back what it has already. */
  const hold = Effect.fnUntraced(function* <E>(
    restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
    held: Effect.Effect<unknown, E, Scope.Scope>
  ) {
    const scope = yield* Scope.make()
    yield* restore(Scope.provide(held, scope)).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
    return scope
  })

  const open = Effect.fnUntraced(function* (
    restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  ) {
    const scope = yield* hold(restore, options.lease)
    group = { scope, since: performance.now(), members: [], due: false, scheduled: false, failure: undefined }
  })

  return {
    acquireConnection: Effect.fnUntraced(function* (
      restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    ) {
      const isShared = yield* SharedCommit
      const asked = performance.now()
      const member = yield* hold(restore, turn.takeScoped(1))
      running = member
      yield* Effect.addFinalizer(() => giveTurn(member))
      if (group !== undefined && (!isShared || isFull(group))) yield* end(group)
      if (group === undefined) yield* open(restore)
      if (group !== undefined && !isShared) group.due = true
      return options.member(asked)
    }),

    begin: (connection: SqlConnection.Connection, statement: string | undefined) =>
      Effect.suspend(() => {
        isFirst = !options.isTransaction()
        return run(connection, isFirst ? (statement ?? options.begin) : "SAVEPOINT roster_member")
      }),

    commit: (connection: SqlConnection.Connection) =>
      Effect.suspend(() => {
        if (!isFirst) return run(connection, "RELEASE SAVEPOINT roster_member")
        // Where SQLite ended the transaction, the connection says why.
        return options.isTransaction() ? Effect.void : run(connection, "COMMIT")
      }).pipe(
        Effect.tapError(fail),
        Effect.andThen(
          Effect.suspend(() => {
            const done = Deferred.makeUnsafe<void, SqlError.SqlError>()
            group?.members.push(done)
            return Effect.andThen(running === undefined ? Effect.void : giveTurn(running), Deferred.await(done))
          })
        )
      ),

    /** Where not even that is possible, as after SQLite itself ended the transaction, it ends for all of the group. */
    rollback: (connection: SqlConnection.Connection) =>
      Effect.suspend(() =>
        isFirst
          ? undo(connection)
          : Effect.andThen(
              run(connection, "ROLLBACK TO SAVEPOINT roster_member"),
              run(connection, "RELEASE SAVEPOINT roster_member")
            ).pipe(Effect.catch(fail))
      )
  }
}
