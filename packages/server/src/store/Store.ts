/** The database of a store, whose tables it brings up to date as it opens. */
import { redactLayerSpans, secretText } from "@roster/domain/internal"
import { Effect, Layer, References, Result } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { lastMigration, latestMigration, migrate, newer } from "./Migrations.ts"
import * as SqliteClient from "./sqlite/SqliteClient.ts"
import { fromStatement, type StoreError, unavailable } from "./sqlite/StoreError.ts"
import * as StoreFile from "./sqlite/StoreFile.ts"
import type { LockContention } from "./sqlite/LockContention.ts"
import { routeOf } from "./postgres/PostgresAddress.ts"
import { AnswerWithin, nameOf, type PostgresOptions } from "./postgres/PostgresOptions.ts"
import * as PostgresLoading from "./postgres/PostgresLoading.ts"
import { keepsSessions, lostSessions } from "./postgres/KeptSessions.ts"
import * as FailedAuthCounts from "./postgres/FailedAuthCounts.ts"
import { byEngine } from "./SqlDialect.ts"
import { skewIssue, storeClock } from "./StoreClock.ts"
import { refuseForeign } from "./sqlite/StoreContents.ts"
import { yieldToEventLoop } from "../threads/Slices.ts"

/** Reads first, so that opening an up-to-date store never waits for the write lock. */
const migrateStore = Effect.fnUntraced(function* (filename: string) {
  if ((yield* lastMigration) < latestMigration) {
    yield* migrate.pipe(
      // Its statements take as long as the tables are large.
      Effect.provideService(AnswerWithin, Infinity),
      // A fiber that makes so many steps would yield by a timer that a test may have replaced.
      Effect.andThen(yieldToEventLoop),
      Effect.provideService(References.PreventSchedulerYield, true)
    )
  }
  const sql = yield* SqlClient.SqlClient
  yield* byEngine(sql, { sqlite: () => Effect.void, postgres: () => FailedAuthCounts.createTable(sql) })
  // Data of a later version can have a meaning that this version does not know.
  const latest = yield* lastMigration
  if (latest > latestMigration) return yield* unavailable(filename, newer(latest))
  const issue = skewIssue(yield* storeClock(sql).skew)
  if (issue !== undefined) yield* Effect.logWarning(`${issue}: the store goes by that of the database`)
})

const isUnreachable = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" || reason._tag === "AuthenticationError"

/** Brings the tables of a store up to date, and says why it cannot be used. */
const migrated = (name: string) =>
  Effect.mapError(migrateStore(name), (error) => {
    if (error._tag === "StoreUnavailable") return error
    const doing = "Its tables cannot be brought up to date"
    if (SqlError.isSqlError(error) && isUnreachable(error)) return unavailable(name, PostgresLoading.failure(error))
    return SqlError.isSqlError(error)
      ? fromStatement(name, doing)(error)
      : unavailable(name, `${doing}: ${error.message}`)
  })

/** On connections of their own, where statements wait for locks as long as they have to. */
const migratedPostgres = (options: PostgresOptions) => {
  const name = nameOf(options)
  const checked = Effect.gen(function* () {
    const isKept = yield* Effect.mapError(keepsSessions(yield* SqlClient.SqlClient), (error) =>
      unavailable(name, PostgresLoading.failure(error))
    )
    if (!isKept) return yield* unavailable(name, `It is behind a pooler that ${lostSessions}.`)
    return yield* migrated(name)
  })
  return Effect.provide(checked, Layer.fresh(PostgresLoading.layer({ ...options, maxConnections: 2 })))
}

/** Says at each start what the address of a database leaves open. */
const warned = ({ url }: PostgresOptions) =>
  Layer.effectDiscard(
    Effect.forEach(
      // One that cannot be read is refused where it is used.
      Result.match(routeOf(secretText(url) ?? ""), { onFailure: () => [], onSuccess: ({ warnings }) => warnings }),
      (warning) => Effect.logWarning(warning)
    )
  )

/** Provides the database of a store on PostgreSQL with its tables migrated. */
export const layerPostgres = (options: PostgresOptions, kept?: number): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  PostgresLoading.layer(options, kept).pipe(
    Layer.provideMerge(Layer.effectDiscard(migratedPostgres(options))),
    Layer.provideMerge(warned(options)),
    redactLayerSpans
  )

/** Provides the database of a store with its tables migrated. Work on the embedded store alone needs nothing else. */
export const layer = ({
  filename,
  contention
}: {
  /** The database file, created if missing, or `:memory:`. */
  readonly filename: string
  /** Shared with other threads of this process on the same store. */
  readonly contention?: LockContention | undefined
}): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  Layer.effectDiscard(migrated(filename)).pipe(
    Layer.provideMerge(SqliteClient.layer({ filename, contention })),
    // Before anything is written to the file.
    Layer.provide(Layer.effectDiscard(refuseForeign(StoreFile.toPath(filename)))),
    redactLayerSpans
  )
