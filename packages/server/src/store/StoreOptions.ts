/** The options of an embedded service, on SQLite and on PostgreSQL. */
import { KnownFields } from "@roster/domain/internal"
import { Context, type Duration, Effect, Predicate } from "effect"
import { nameOf, type PostgresOptions } from "./postgres/PostgresOptions.ts"
import { type StoreUnavailable, unavailable } from "./sqlite/StoreError.ts"

export type { PostgresOptions } from "./postgres/PostgresOptions.ts"

/**
 * What becomes of a store of an earlier version that is opened: it is upgraded, which the log says, after a copy was kept
 * beside its file, or without one; or it is refused as `StoreUnavailable` with `isOlder`, and nothing is changed.
 */
export type OlderStore = (typeof olderStores)[number]

const olderStores = ["upgrade", "upgradeWithoutCopy", "refuse"] as const

/** What a service may do, on any database. */
export interface PolicyOptions {
  /** The addresses that mail may come from, `*@example.com` for a domain, or `any` (default: none). */
  readonly allowedSenders?: ReadonlyArray<string> | undefined
  /** The hosts that files may be imported from by URL, or `any` for all public ones (default: none). */
  readonly allowFileUrl?: ReadonlyArray<string> | undefined
  /** How long a call may look for the contacts of a rule (default: 10 seconds). An export may take any time. */
  readonly ruleDeadline?: Duration.Input | undefined
  /**
   * What becomes of a store of an earlier version (default: `upgrade`). It is never upgraded while another process is at work
   * on it, and no copy of a PostgreSQL is kept.
   */
  readonly older?: OlderStore | undefined
}

/** The options of a service on PostgreSQL, which any number of processes may serve. */
export interface PostgresStoreOptions extends PolicyOptions {
  /** How to connect to the database. */
  readonly postgres: PostgresOptions
  /** The entry file of the thread for jobs, as that of `StoreOptions`. */
  readonly jobThread?: URL | undefined
}

/** The options of an embedded service: where its data is, and what it may do. */
export interface StoreOptions extends PolicyOptions {
  /** The database file, created if missing, or `:memory:`. */
  readonly filename: string
  /**
   * Whether the file is read alone (default: false): every write fails, jobs wait, and a missing store or one of an earlier
   * version is refused. So a file is read that this user cannot write, where no other process writes it.
   */
  readonly readOnly?: boolean | undefined
  /**
   * The entry file of the thread for jobs; without it they run where requests are answered. Needed if `RosterServer` is
   * bundled: name the bundle, and on worker threads run only `work` of `@roster/server/WorkerThread`.
   */
  readonly jobThread?: URL | undefined
}

/** The part of the options that the services need. */
export class StorePolicy extends Context.Service<
  StorePolicy,
  { readonly allowedSenders: ReadonlyArray<string>; readonly allowFileUrl: ReadonlyArray<string> }
>()("@roster/server/StorePolicy") {}

const olderIssue = (value: unknown) =>
  olderStores.some((known) => known === value) ? undefined : `it is one of ${olderStores.join(", ")}`

/** What is wrong with a value where a mistaken one would write to a store, or keep nothing of it. */
export const booleanIssue = (value: unknown) => (Predicate.isBoolean(value) ? undefined : "it is true or false")

const policyFields = {
  allowedSenders: true,
  allowFileUrl: true,
  ruleDeadline: true,
  older: olderIssue,
  jobThread: true
} as const
const sqliteFields = KnownFields.fieldsOf<StoreOptions>("a store", {
  ...policyFields,
  filename: true,
  readOnly: booleanIssue
})
const postgresFields = KnownFields.fieldsOf<PostgresStoreOptions>("a store", { ...policyFields, postgres: true })
const databaseFields = KnownFields.fieldsOf<PostgresOptions>("a database", {
  url: true,
  password: true,
  maxConnections: true,
  acquireTimeout: true,
  statementMillis: true
})

/** Refuses options of unknown names, which name the store. */
const checkOptions = (
  name: string,
  ...checks: ReadonlyArray<readonly [known: KnownFields.Known, given: unknown]>
): Effect.Effect<void, StoreUnavailable> => {
  const refused = checks
    .map(([known, given]) => KnownFields.refusal(known, given))
    .find((refused) => refused !== undefined)
  return refused === undefined ? Effect.void : Effect.fail(unavailable(name, `${refused.message}.`))
}

/** Refuses options of a store of an unknown name. */
export const checkStoreOptions = (options: StoreOptions) => checkOptions(options.filename, [sqliteFields, options])

/** Refuses options of a store on PostgreSQL of an unknown name. */
export const checkPostgresOptions = (options: PostgresStoreOptions) =>
  checkOptions(nameOf(options.postgres), [postgresFields, options], [databaseFields, options.postgres])
