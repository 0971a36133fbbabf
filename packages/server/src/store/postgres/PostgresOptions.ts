/** How to reach PostgreSQL, and what other rooms need of it without loading its client. */
import { secretText } from "@roster/domain/internal"
import { Context, type Duration, Effect, Layer, type Redacted } from "effect"
import { WriteFairness } from "../sqlite/LockContention.ts"

/** How to reach PostgreSQL. */
export interface PostgresOptions {
  /**
   * `postgres://user@host:port/database`. Off this machine by TLS with a verified certificate, of an authority that
   * `?sslrootcert=FILE` may name, unless it says `?sslmode=disable`.
   */
  readonly url: Redacted.Redacted<string>
  /** The password, if the URL has none. */
  readonly password?: Redacted.Redacted<string> | undefined
  /** The maximum number of connections of this process, those of jobs included (default: 14). */
  readonly maxConnections?: number | undefined
  /** How long a call waits for a connection (default: 5 seconds). */
  readonly acquireTimeout?: Duration.Input | undefined
  /** How long a statement may take, in milliseconds (default: 60,000). */
  readonly statementMillis?: number | undefined
}

/** What the sessions of a process are named that is at work on a store, in every version of Roster: its mark. */
export const atWork = "roster"

/** What the sessions are named of a process that starts, before it knows at which step the tables are. */
export const starting = "roster start"

/** The connections that a service keeps for short calls: one that their reads share, and one for a short write or look. */
export const shortConnections = 2

/** Who takes a connection, and for how long. */
interface ConnectionUse {
  readonly account: string
  /** Whether the call is one short statement, which may take a connection that is kept for those. */
  readonly isShort: boolean
}

/**
 * For whom this fiber takes connections (default: for the main account, and work of any length). `SqlClient` has
 * no parameter for it.
 */
export const ConnectionUse = Context.Reference<ConnectionUse>("@roster/server/ConnectionUse", {
  defaultValue: () => ({ account: "", isShort: false })
})

/**
 * Milliseconds until the service gives a statement up (default: `statementMillis`; migrations: `Infinity`).
 * `SqlClient` has no parameter for it.
 */
export const AnswerWithin = Context.Reference<number | undefined>("@roster/server/AnswerWithin", {
  defaultValue: () => undefined
})

/** How long the statement of a short call may take, in milliseconds. */
export const shortMillis = 5000

const short: ConnectionUse = { account: "", isShort: true }

/** Takes the connections that are kept for short calls: one contact, the look-up of a key, readiness. */
export const asShortCall = <A, E, R>(effect: Effect.Effect<A, E, R>, within = shortMillis): Effect.Effect<A, E, R> =>
  effect.pipe(Effect.provideService(ConnectionUse, short), Effect.provideService(AnswerWithin, within))

/** The connections that other calls than short ones take, of so many. */
export const sharedConnections = (all: number, kept: number): number => Math.max(1, all - kept)

/** The database as messages name it: without user, password and parameters. */
export const nameOf = ({ url }: PostgresOptions): string => {
  const parsed = URL.parse(secretText(url) ?? "")
  return parsed === null ? "of this address" : `postgres://${parsed.host}${parsed.pathname}`
}

/** The connections of one process. */
export const defaultConnections = 14

/** Those of them that jobs on their own thread have: two jobs hold one each, and what they read and note beside is short. */
const jobConnections = 4

/** The connections that jobs on their own thread have of so many: at least one to work with and one to note progress. */
export const connectionsOfJobs = (all: number): number => Math.max(2, Math.min(jobConnections, Math.floor(all / 2)))

/** Requests on PostgreSQL do not hold up each other's writes: a job has its own connection. */
export const sharedWrites = Layer.succeed(WriteFairness, {
  hasWaiter: () => false,
  yieldToWriters: Effect.yieldNow
})

/** Whether a transaction is run once. `SqlClient.withTransaction` has no parameter for it. */
export const NoRepeat = Context.Reference<boolean>("@roster/server/NoRepeat", { defaultValue: () => false })

/** Runs transactions once: they change more than the database, and the caller begins again from what is stored. */
export const withoutRepeat: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  NoRepeat,
  true
)
