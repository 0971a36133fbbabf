/** Turns a `SqlError` into a `ServiceError`. The cause is logged here, since none of it may leave the service. */
import { OutcomeUnknown, RunRefused, ServiceError, StoreFailure } from "@roster/domain"
import { Context, Effect, Option, Predicate } from "effect"
import { HttpServerRequest } from "effect/http"
import { SqlError } from "effect/sql"
import { closeSync, openSync } from "node:fs"
import { devNull } from "node:os"
import * as PostgresError from "./postgres/PostgresError.ts"
import * as SqliteError from "./sqlite/SqliteError.ts"

const { errorCode, holderOf, isDamage, isOpenedToRead, isReadOnly, isUnsynced } = SqliteError

/** Tells a failure of the database from those of a type parameter. */
export const isSqlError = <E>(error: E | SqlError.SqlError): error is SqlError.SqlError => SqlError.isSqlError(error)

/** Tells a failure of the database where it is part of a type parameter. */
export const isSqlErrorOf = <E>(error: E): error is Extract<E, SqlError.SqlError> => SqlError.isSqlError(error)

/** Whether a statement failed because the disk of the database is full. */
export const isDiskFull = (error: SqlError.SqlError): boolean =>
  SqliteError.isDiskFull(error) || PostgresError.isDiskFull(error)

/**
 * Whether a request was made in this process by the owner of the store, and so needs no key. A reference, since nothing in the
 * request itself may say so.
 */
export const InProcess = Context.Reference<boolean>("@roster/server/InProcess", { defaultValue: () => false })

/** Callers over the network are not told of files and processes of this machine. */
const isRemote = (context: Context.Context<never>): boolean =>
  Option.isSome(Context.getOption(context, HttpServerRequest.HttpServerRequest)) && !Context.get(context, InProcess)

const describe = (error: SqlError.SqlError, context: Context.Context<never>): string | undefined => {
  if (isDiskFull(error)) return "the disk is full"
  if (isDamage(error.reason.cause)) return "its file is damaged; restore a backup (roster restore FILE)"
  if (isOpenedToRead(error)) return "it was opened to be read alone"
  if (isReadOnly(error)) return "its disk failed, so it takes no more writes; check the disk and restart the service"
  if (error.reason._tag === "LockTimeoutError" && !PostgresError.isLockTimeout(error)) {
    const holder = isRemote(context) ? undefined : holderOf(error.reason.cause)
    return `${holder ?? "another program held it"} for too long`
  }
  const known = PostgresError.describe(error)
  if (known !== undefined) return known
  if (error.reason._tag === "ConnectionError") return "it cannot be reached"
  // SQLITE_ERROR is a statement that SQLite does not understand.
  const isMistake = error.reason._tag !== "UnknownError" || errorCode(error.reason.cause) === 1
  return isMistake ? undefined : "it cannot be read or written"
}

/** Whether the process can open no file now. What then fails has errors of many kinds, which all mean this. */
export const lacksDescriptors = (): boolean => {
  try {
    closeSync(openSync(devNull, "r"))
    return false
  } catch (error) {
    return Predicate.hasProperty(error, "code") && (error.code === "EMFILE" || error.code === "ENFILE")
  }
}

/** As callers are told. */
export const withoutDescriptors = "the service has no file descriptors left"

/** Says in the log what to do about it. */
export const logLackOfDescriptors = (what: string): Effect.Effect<void> =>
  Effect.logError(
    `${what}: no file descriptors are left. Allow the process more (ulimit -n, or LimitNOFILE of a unit), or fewer ` +
      "connections."
  )

/** A commit whose fsync failed: the next start may find it or not. */
const unsynced = new OutcomeUnknown({
  detail: "the disk of the store failed while it was written",
  recovery: "Check the disk and restart the service. Check whether it was done before you repeat it."
})

/** A commit whose answer was lost with the connection. */
const lostCommit = new OutcomeUnknown({
  detail: "the connection to the database broke before it answered",
  recovery: "Check whether it was done before you repeat it."
})

/** Logs a failure of the database and fails with the `ServiceError` of an operation. */
export const storeFailure = Effect.fnUntraced(function* (operation: string, error: SqlError.SqlError) {
  const { cause } = error.reason
  if (cause instanceof PostgresError.CommitLost) {
    yield* Effect.logError(`${operation}: ${cause.message}`)
    return yield* new ServiceError({ operation, reason: lostCommit })
  }
  const isLost = isUnsynced(cause)
  if (!isLost && lacksDescriptors()) {
    yield* logLackOfDescriptors(operation)
    return yield* new ServiceError({ operation, reason: new StoreFailure({ detail: withoutDescriptors }) })
  }
  const detail = isLost ? lostSync : describe(error, yield* Effect.context<never>())
  // Only a bug makes the database refuse a statement.
  if (detail === undefined) return yield* Effect.die(error)
  yield* Effect.logError(`${operation}: ${isLost ? detail : `the store failed: ${detail}`}`)
  yield* Effect.logDebug(error)
  return yield* new ServiceError({ operation, reason: isLost ? unsynced : new StoreFailure({ detail }) })
})

const lostSync = "the disk failed, and the store takes no more writes until it is restarted"

const isRunRefusedOf = <E>(error: E): error is Extract<E, RunRefused> => error instanceof RunRefused

/** Turns failures of the database, and the refusal of a run, into the `ServiceError` of an operation. */
export const orStoreFailure =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.catchIf(isSqlErrorOf<E>, (error) => storeFailure(operation, error)),
      Effect.catchIf(isRunRefusedOf, (reason) => Effect.fail(new ServiceError({ operation, reason })))
    )
