/** How to reach PostgreSQL, and what other rooms need of it without loading its client. */
import { secretText } from "@roster/domain"
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

/** The database as messages name it: without user, password and parameters. */
export const nameOf = ({ url }: PostgresOptions): string => {
  const parsed = URL.parse(secretText(url) ?? "")
  return parsed === null ? "of this address" : `postgres://${parsed.host}${parsed.pathname}`
}

/** The connections of one process. */
export const defaultConnections = 14

/** Those of them that jobs on their own thread have: two jobs hold one each, and what they read and note beside is short. */
export const jobConnections = 4

/** Requests on PostgreSQL do not hold up each other's writes: a job has its own connection. */
export const sharedWrites = Layer.succeed(WriteFairness, {
  hasWaiter: () => false,
  yieldToWriters: Effect.yieldNow
})

export const NoRepeat = Context.Reference<boolean>("@roster/server/NoRepeat", { defaultValue: () => false })

/** Runs transactions once: they change more than the database, and whoever runs them begins again from what is stored. */
export const withoutRepeat: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  NoRepeat,
  true
)
