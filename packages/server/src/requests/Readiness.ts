/**
 * Whether a store can be used now, asked again and again: it answers and takes writes, and no newer version of Roster has
 * migrated it, after which this process writes nothing more. (docs/decisions/postgres.md)
 */
import { Context, Deferred, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { TimeoutError } from "effect/Cause"
import { idly } from "../threads/Background.ts"
import { latestMigration, newer } from "../store/Migrations.ts"
import { asShortCall } from "../store/postgres/PostgresOptions.ts"
import { dialect } from "../store/SqlDialect.ts"
import { type StoreUnavailable, unavailable } from "../store/sqlite/StoreError.ts"

/** The time in which the store has to answer for the service to be ready. */
const readyWithin = Duration.seconds(2)

/** Those who ask within this time share an answer: anybody may ask, and on SQLite each answer is a write. */
const sharedFor = "1 second"

/** How often a service looks whether a newer version has migrated its store. */
const watchInterval = "2 seconds"

export class Readiness extends Context.Service<
  Readiness,
  {
    /** Fails unless the store answers, takes writes and is of this version. */
    readonly check: Effect.Effect<void, SqlError.SqlError | StoreUnavailable | TimeoutError>
    /** Whether a newer version has migrated the store, as far as was looked. */
    readonly isSuperseded: () => boolean
    /** Looks at times, and fails once a newer version has migrated the store. */
    readonly superseded: Effect.Effect<never, StoreUnavailable>
  }
>()("@roster/server/Readiness") {}

const make = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* Deferred.make<never, StoreUnavailable>()
  const judge = Effect.fnUntraced(function* (step: number) {
    if (step <= latestMigration) return
    const error = unavailable(name, newer(step))
    if (yield* Deferred.fail(found, error)) yield* Effect.logError(error.message)
    return yield* error
  })
  const check = asShortCall(dialect(sql).ready, Duration.toMillis(readyWithin)).pipe(
    Effect.flatMap(judge),
    Effect.timeout(readyWithin)
  )
  const step = Effect.map(sql<{ readonly step: number }>`SELECT max(migration_id) AS step FROM migrations`, ([row]) =>
    Number(row?.step ?? 0)
  )
  const looking = asShortCall(step).pipe(
    Effect.flatMap(judge),
    // A store that does not answer now is asked again.
    Effect.ignore,
    Effect.repeat(Schedule.spaced(watchInterval)),
    idly
  )
  const shared = yield* Effect.cachedWithTTL(check, sharedFor)
  const isSuperseded = () => Deferred.isDoneUnsafe(found)
  return Readiness.of({
    check: Effect.suspend(() => (isSuperseded() ? Deferred.await(found) : shared)),
    isSuperseded,
    superseded: Effect.raceFirst(Deferred.await(found), Effect.andThen(looking, Effect.never))
  })
})

/** Provides the readiness of the store of a name. */
export const layer = (name: string): Layer.Layer<Readiness, never, SqlClient.SqlClient> =>
  Layer.effect(Readiness, make(name))
