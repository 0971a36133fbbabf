/** The scans of a store within their bounds: how long one may take, and how many may wait. (docs/limits.md) */
import { type ContactCount, type FieldsInUse, RateLimited, ServiceError, Unavailable } from "@roster/domain"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { makePlaces } from "../threads/FairQueue.ts"
import { type Full, makeQuota } from "../threads/Quota.ts"
import { type FindRequest, type Found, makeScans, type ScanRequest } from "./RuleScan.ts"

/** What bounds a search: the operation that asks for it, and whether for a bulk delete. */
export interface ScanOptions {
  readonly operation: string
  readonly isDeletion: boolean
}

/** Finds the contacts that a rule selects. */
export class RuleScans extends Context.Service<
  RuleScans,
  {
    /** Finds ids within the bounds. Interrupting it stops the scan. */
    readonly find: (
      options: ScanOptions,
      request: FindRequest
    ) => Effect.Effect<Found["ids"], SqlError.SqlError | ServiceError>
    /** Finds a page of them in the same way, with the key behind which the next one begins. */
    readonly findPage: (
      options: ScanOptions,
      request: FindRequest
    ) => Effect.Effect<Found, SqlError.SqlError | ServiceError>
    /** Counts the fields of contacts in the same way, of as many as half of the time is enough for. */
    readonly fields: (
      options: ScanOptions,
      request: ScanRequest
    ) => Effect.Effect<FieldsInUse, SqlError.SqlError | ServiceError>
    /** Counts contacts in the same way. */
    readonly count: (
      options: ScanOptions,
      request: ScanRequest
    ) => Effect.Effect<ContactCount, SqlError.SqlError | ServiceError>
  }
>()("@roster/server/RuleScans") {}

/** How long a scan may take, with its waits for others. */
const defaultRuleDeadline: Duration.Input = "10 seconds"

/** The scans of an account that run or wait at one time. */
export const maximumAccountScans = 32

/** The scans of all accounts. */
export const maximumScans = 256

/** A bulk delete counts as so many, since it holds the ids of all contacts that it finds: 8 MB for a million. */
export const deletionWeight = 8

/**
 * The Retry-After of a refusal, in seconds. It is longer than a client waits, so that the client fails at once with the
 * text.
 */
const deadlineRetryAfter = 120

/** The Retry-After of a refusal for the number of scans, in seconds. By then the running scans have ended. */
const crowdRetryAfter = 10

const tooLong = (operation: string, deadline: Duration.Duration) =>
  new ServiceError({
    operation,
    reason: new Unavailable({
      detail:
        `the rule was stopped after ${Duration.toSeconds(deadline)} s, and nothing was done; use a rule with ` +
        "fewer conditions, or export the contacts, which has no such limit",
      retryAfter: deadlineRetryAfter
    })
  })

const tooMany = (operation: string) => (full: Full) =>
  new ServiceError({
    operation,
    reason:
      full === "own"
        ? new RateLimited({
            detail:
              `its calls with a rule have reached their bound, ${maximumAccountScans} lists or ` +
              `${maximumAccountScans / deletionWeight} bulk deletes at a time. Wait until some of them are ` +
              "answered.",
            retryAfter: crowdRetryAfter
          })
        : new Unavailable({ detail: "its calls with a rule have reached their bound", retryAfter: crowdRetryAfter })
  })

/** Makes the scans of a store, of which so many run at one time (default: as many as come, in turns). */
const make = (sql: SqlClient.SqlClient, ruleDeadline: Duration.Input = defaultRuleDeadline, atOnce = Infinity) => {
  const scans = makeScans(sql)
  // One is left to other accounts where there are several.
  const places = makePlaces(atOnce, Math.max(1, atOnce - 1))
  const deadline = Duration.fromInputUnsafe(ruleDeadline)
  const quota = makeQuota({ own: maximumAccountScans, all: maximumScans })
  /** Looks within the bounds, in turns of the accounts; a bulk delete counts as several. */
  const bounded = <A, E>({ isDeletion, operation }: ScanOptions, account: string, scan: Effect.Effect<A, E>) =>
    quota.hold(account, isDeletion ? deletionWeight : 1).pipe(
      Effect.mapError(tooMany(operation)),
      Effect.andThen(
        Effect.timeoutOrElse(Effect.andThen(places.take(account), scan), {
          duration: deadline,
          orElse: () => Effect.fail(tooLong(operation, deadline))
        })
      ),
      Effect.scoped
    )
  return RuleScans.of({
    find: (options, request) =>
      bounded(
        options,
        request.account,
        Effect.map(scans.find(request), ({ ids }) => ids)
      ),
    findPage: (options, request) => bounded(options, request.account, scans.find(request)),
    fields: (options, request) => {
      const millis = Duration.toMillis(deadline) / 2
      return bounded(options, request.account, scans.fields({ ...request, millis }))
    },
    count: (options, request) => bounded(options, request.account, scans.count(request))
  })
}

/** Provides the scans of a store. */
export const layer = (deadline?: Duration.Input, atOnce?: number): Layer.Layer<RuleScans, never, SqlClient.SqlClient> =>
  Layer.effect(
    RuleScans,
    Effect.map(SqlClient.SqlClient, (sql) => make(sql, deadline, atOnce))
  )
