/** The errors of PostgreSQL: what they mean for the transaction they ended, and without the values that they quote. */
import { Predicate } from "effect"
import { SqlError } from "effect/sql"
import { tlsIssue } from "./PostgresAddress.ts"

/** The connection broke after COMMIT, or a statement that commits by itself, was sent: nobody knows whether it was done. */
export class CommitLost extends Error {
  override readonly name = "CommitLost"
}

/** Whether nobody knows what became of a transaction, or of a statement that commits by itself. */
export const isCommitLost = (failure: unknown): failure is SqlError.SqlError =>
  SqlError.isSqlError(failure) && failure.reason.cause instanceof CommitLost

/** All connections of the pool were in use for too long. */
export class PoolExhausted extends Error {
  override readonly name = "PoolExhausted"
}

/** The database did not answer in time, and the connection was closed. */
class NoAnswer extends Error {
  override readonly name = "NoAnswer"
}

/** The failure of a statement, or of making a connection, that was not answered. */
export const noAnswer = (operation: "query" | "connect"): SqlError.SqlError =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new NoAnswer("PostgreSQL did not answer in time"), operation })
  })

/** The package of the client could not be loaded. */
export class ClientNotLoaded extends Error {
  override readonly name = "ClientNotLoaded"
}

/** Why the package was not loaded, as the runtime or the bundle says: it is missing, or it is there and fails. */
export const notLoaded = (cause: unknown): ClientNotLoaded => {
  const [said = ""] = String(Predicate.isError(cause) ? cause.message : cause).split("\n")
  return new ClientNotLoaded(
    /(?:package|module|import) ["']@effect\/sql-pg/i.test(said)
      ? "its client is missing: install the package @effect/sql-pg"
      : `its client, the package @effect/sql-pg, cannot be loaded: ${said}`,
    { cause }
  )
}

/** The SQLSTATE of an error, or `undefined` if it is not the server's. */
const sqlState = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) && /^[0-9A-Z]{5}$/.test(cause.code)
    ? cause.code
    : undefined

/** The server ends (57P01 to 57P05), has no more connections (53300), or has become a replica (25006). */
const isUnavailable = (code: string): boolean => /^(57P0[1-5]|53300|25006)$/.test(code)

/** Whether a statement failed because the disk of the server is full. */
export const isDiskFull = ({ reason }: SqlError.SqlError): boolean => sqlState(reason.cause) === "53100"

/** Whether the database takes no writes now, as a primary that has become a replica. */
export const isReadOnly = ({ reason }: SqlError.SqlError): boolean => sqlState(reason.cause) === "25006"

/** Whether a statement waited for the lock of another one for as long as it may at one time. */
export const isLockTimeout = ({ reason }: SqlError.SqlError): boolean => sqlState(reason.cause) === "55P03"

/** Why no connection came about, by the code of the system. */
const unreached: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at its address",
  ENOTFOUND: "no machine has its name",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "no way leads to its address"
}

const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""

/** What keeps the database from being used, for callers of the service; `undefined` for a mistake of the service. */
export const describe = (error: SqlError.SqlError): string | undefined => {
  const { reason } = error
  if (reason.cause instanceof PoolExhausted) return "all its connections are in use"
  if (reason.cause instanceof ClientNotLoaded) return reason.cause.message
  const issue = tlsIssue(reason.message, reason.cause)
  if (issue !== undefined) return issue
  if (reason.cause instanceof NoAnswer) return "it does not answer"
  if (isReadOnly(error)) return "it is read-only"
  if (isLockTimeout(error)) return "others held what it needs for too long"
  if (sqlState(reason.cause) === "3D000") return "there is no database of this name"
  switch (reason._tag) {
    case "AuthenticationError":
      return "it refuses the user or the password of the service"
    case "AuthorizationError":
      return "its user lacks a right; roster doctor says which"
    case "DeadlockError":
    case "SerializationError":
      return "others changed the same at the same time"
    case "StatementTimeoutError":
      return "a statement took too long"
    default:
      return reason._tag === "ConnectionError" ? unreached[codeOf(reason.cause)] : undefined
  }
}

/** Errors of values (22) and constraints (23) quote the values. */
const quotes = (code: string): boolean => code.startsWith("22") || code.startsWith("23")

const causeOf = (cause: unknown, code: string): Error => {
  const message = Predicate.isError(cause) && !quotes(code) ? cause.message : "a value was refused"
  return Object.assign(new Error(`${message} (SQLSTATE ${code})`), { code })
}

/** The reasons that are kept; what else PostgreSQL says is unknown. */
const reasons = {
  ConnectionError: SqlError.ConnectionError,
  AuthenticationError: SqlError.AuthenticationError,
  AuthorizationError: SqlError.AuthorizationError,
  SqlSyntaxError: SqlError.SqlSyntaxError,
  ConstraintError: SqlError.ConstraintError,
  DeadlockError: SqlError.DeadlockError,
  SerializationError: SqlError.SerializationError,
  LockTimeoutError: SqlError.LockTimeoutError,
  StatementTimeoutError: SqlError.StatementTimeoutError,
  UnknownError: SqlError.UnknownError
}

/** The error of a statement, with the parts of its cause that quote no value. */
export const toSqlError = (error: SqlError.SqlError): SqlError.SqlError => {
  const { reason } = error
  const code = sqlState(reason.cause)
  if (code === undefined) return error
  const cause = causeOf(reason.cause, code)
  const props = { cause, message: cause.message, operation: reason.operation }
  if (isUnavailable(code)) return new SqlError.SqlError({ reason: new SqlError.ConnectionError(props) })
  if (reason._tag === "UniqueViolation") {
    return new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ ...props, constraint: reason.constraint }) })
  }
  return new SqlError.SqlError({ reason: new reasons[reason._tag](props) })
}

/** Whether the connection broke without a word of the server, so that what was sent may have been done. */
const isBroken = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" && reason.operation !== "connect" && sqlState(reason.cause) === undefined

/** The error of a COMMIT, or of a statement that commits by itself. */
export const ofCommit = (error: SqlError.SqlError): SqlError.SqlError =>
  isBroken(error)
    ? new SqlError.SqlError({
        reason: new SqlError.ConnectionError({
          cause: new CommitLost("the connection to PostgreSQL broke before it answered"),
          operation: error.reason.operation
        })
      })
    : error

/** Two calls with the same idempotency key: one of them has to begin again to find the answer of the other. */
const answerKey = "idempotent_answers_pkey"

/** Whether nothing was committed and the whole transaction may do better at once. */
export const mayRepeat = ({ reason }: SqlError.SqlError): boolean => {
  switch (reason._tag) {
    case "SerializationError":
    case "DeadlockError":
    case "LockTimeoutError":
      return true
    case "ConnectionError":
      return (
        !(reason.cause instanceof CommitLost) &&
        !(reason.cause instanceof PoolExhausted) &&
        !(reason.cause instanceof NoAnswer) &&
        tlsIssue(reason.message, reason.cause) === undefined
      )
    case "UniqueViolation":
      return reason.constraint === answerKey
    default:
      return false
  }
}
