/** All services on one store, with what their HTTP interface needs besides. */
import type {
  AccountService,
  ContactsService,
  CredentialsService,
  EmailsService,
  ListsService,
  RunsService
} from "@roster/domain"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as AuditRefusals from "../credentials/AuditRefusals.ts"
import * as RuleScans from "../contacts/RuleScans.ts"
import * as JobRunner from "../jobs/worker/JobRunner.ts"
import * as WorkerThread from "../jobs/worker/WorkerThread.ts"
import * as SqlAccountService from "./SqlAccountService.ts"
import * as SqlContactsService from "./SqlContactsService.ts"
import * as SqlCredentialsService from "./SqlCredentialsService.ts"
import * as SqlEmailsService from "./SqlEmailsService.ts"
import * as SqlListsService from "./SqlListsService.ts"
import * as SqlRunsService from "./SqlRunsService.ts"
import { memory } from "../store/sqlite/StoreFile.ts"
import * as LockContention from "../store/sqlite/LockContention.ts"
import {
  connectionsOfJobs,
  defaultConnections,
  nameOf,
  sharedConnections,
  sharedWrites,
  shortConnections
} from "../store/postgres/PostgresOptions.ts"
import * as Readiness from "../requests/Readiness.ts"
import * as Store from "../store/Store.ts"
import * as ContactAnswers from "../requests/ContactAnswers.ts"
import * as Turns from "../requests/Turns.ts"
import type { StoreError } from "../store/sqlite/StoreError.ts"
import {
  checkPostgresOptions,
  checkStoreOptions,
  type PolicyOptions,
  type PostgresStoreOptions,
  type StoreOptions,
  StorePolicy
} from "../store/StoreOptions.ts"

/** The services of a store. */
export type Services =
  | AccountService
  | ContactsService
  | CredentialsService
  | EmailsService
  | RunsService
  | ListsService

/** What the HTTP interface of a store needs. */
export type HttpServices =
  | Services
  | AuditRefusals.AuditRefusals
  | ContactAnswers.ContactAnswers
  | Turns.Turns
  | Readiness.Readiness
  | SqlClient.SqlClient

/** The services on SQL, and what their HTTP interface needs besides. */
const services = (name: string) =>
  Layer.mergeAll(
    SqlAccountService.layer,
    SqlContactsService.layer,
    SqlCredentialsService.layer,
    SqlEmailsService.layer,
    SqlRunsService.layer,
    SqlListsService.layer,
    AuditRefusals.layer,
    ContactAnswers.layer,
    Readiness.layer(name)
  ).pipe(Layer.provideMerge(Turns.layer))

const policyOf = ({ allowedSenders = [], allowFileUrl = [] }: PolicyOptions) =>
  Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })

/**
 * Provides what the HTTP interface of a store needs. Where jobs are awaited, those of a store in memory have ended when
 * `import` and `export` return.
 */
export const layerForHttp = (options: StoreOptions, awaitsJobs = false): Layer.Layer<HttpServices, StoreError> => {
  const { filename, jobThread, older, readOnly, ruleDeadline } = options
  const contention = LockContention.make()
  const jobs =
    readOnly === true
      ? JobRunner.layerIdle
      : jobThread === undefined || filename === memory
        ? JobRunner.layer({ inMemory: awaitsJobs && filename === memory })
        : WorkerThread.layer({ entry: jobThread, store: { filename, contention } })
  // Layers are shared in a whole graph, so without `fresh` the services of two stores would use the first one.
  const opened = Layer.fresh(Layer.provide(services(filename), Layer.merge(jobs, RuleScans.layer(ruleDeadline)))).pipe(
    Layer.provide(policyOf(options)),
    Layer.provideMerge(Store.layer({ filename, contention, older, readOnly }))
  )
  return Layer.unwrap(Effect.as(checkStoreOptions(options), opened))
}

/** Provides what the HTTP interface of a store on PostgreSQL needs. */
export const layerPostgresForHttp = (options: PostgresStoreOptions): Layer.Layer<HttpServices, StoreError> => {
  const { jobThread: entry, older, postgres, ruleDeadline } = options
  const { maxConnections = defaultConnections } = postgres
  const ofJobs = connectionsOfJobs(maxConnections)
  const jobs =
    entry === undefined
      ? Layer.provide(JobRunner.layer(), sharedWrites)
      : WorkerThread.layer({ entry, store: { postgres: { ...postgres, maxConnections: ofJobs } } })
  // Jobs that share the connections of requests read and note beside what they hold.
  const connections = entry === undefined ? maxConnections : Math.max(1, maxConnections - ofJobs)
  const kept = entry === undefined ? 0 : shortConnections
  // Each holds the contacts that it has read.
  const rulesAtOnce = Math.max(1, Math.floor(sharedConnections(connections, kept) / 2))
  const work = Layer.merge(jobs, RuleScans.layer(ruleDeadline, rulesAtOnce))
  const opened = Layer.fresh(Layer.provide(services(nameOf(postgres)), work)).pipe(
    Layer.provide(policyOf(options)),
    Layer.provideMerge(Store.layerPostgres({ ...postgres, maxConnections: connections }, kept, older))
  )
  return Layer.unwrap(Effect.as(checkPostgresOptions(options), opened))
}
