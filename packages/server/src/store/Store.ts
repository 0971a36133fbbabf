/** The database of a store, whose tables are up to date once it is open. */
import { redactLayerSpans, secretText } from "@roster/domain/internal"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { lastMigration, latestMigration, newer } from "./Migrations.ts"
import * as FailedAuthCounts from "./postgres/FailedAuthCounts.ts"
import { routeOf } from "./postgres/PostgresAddress.ts"
import * as PostgresLoading from "./postgres/PostgresLoading.ts"
import type { PostgresOptions } from "./postgres/PostgresOptions.ts"
import { byEngine } from "./SqlDialect.ts"
import type { LockContention } from "./sqlite/LockContention.ts"
import * as SqliteClient from "./sqlite/SqliteClient.ts"
import { refuseForeign } from "./sqlite/StoreContents.ts"
import { type StoreError, unavailable } from "./sqlite/StoreError.ts"
import * as StoreFile from "./sqlite/StoreFile.ts"
import { skewIssue, storeClock } from "./StoreClock.ts"
import { checkStoreOptions, type OlderStore, type StoreOptions } from "./StoreOptions.ts"
import {
  logUpgrade,
  migrateAll,
  olderStore,
  onDatabase,
  orUnusable,
  upgradeDatabase,
  upgradeFile
} from "./StoreUpgrade.ts"

/**
 * Creates the tables of a new store, and refuses one of another version. Reads first, so that opening an up-to-date store
 * never waits for the write lock.
 */
const prepareStore = Effect.fnUntraced(function* (name: string, readOnly = false) {
  const step = yield* lastMigration
  if (step === 0) {
    if (readOnly) return yield* unavailable(name, "There is no store in it yet. Check the path.")
    yield* migrateAll
  } else if (step < latestMigration) return yield* olderStore(name, step)
  const sql = yield* SqlClient.SqlClient
  yield* byEngine(sql, { sqlite: () => Effect.void, postgres: () => FailedAuthCounts.createTable(sql) })
  // Data of a later version can have a meaning that this version does not know.
  const latest = yield* lastMigration
  if (latest > latestMigration) return yield* unavailable(name, newer(latest))
  const issue = skewIssue(yield* storeClock(sql).skew)
  if (issue !== undefined) yield* Effect.logWarning(`${issue}: the store goes by that of the database`)
})

/** Brings the tables of a store on PostgreSQL up to date, or says why it cannot be used. */
const preparePostgres = (options: PostgresOptions, older: OlderStore = "upgrade") =>
  onDatabase(
    options,
    Effect.fnUntraced(function* (name) {
      if (older !== "refuse") yield* upgradeDatabase(name, { announce: logUpgrade })
      yield* orUnusable(name)(prepareStore(name))
    })
  )

/** Says at each start what the address of a database leaves open. */
const warned = ({ url }: PostgresOptions) =>
  Layer.effectDiscard(
    Effect.forEach(
      // One that cannot be read is refused where it is used.
      Result.match(routeOf(secretText(url) ?? ""), { onFailure: () => [], onSuccess: ({ warnings }) => warnings }),
      (warning) => Effect.logWarning(warning)
    )
  )

/** Provides the database of a store on PostgreSQL with its tables up to date. */
export const layerPostgres = (
  options: PostgresOptions,
  kept?: number,
  older?: OlderStore
): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  PostgresLoading.layer(options, kept).pipe(
    Layer.provideMerge(Layer.effectDiscard(preparePostgres(options, older))),
    Layer.provideMerge(warned(options)),
    redactLayerSpans
  )

/** Before anything is written to the file. */
const lookFirst = (filename: string, older: OlderStore) =>
  Effect.gen(function* () {
    const path = StoreFile.toPath(filename)
    const step = yield* refuseForeign(path)
    // Opening it says the rest.
    if (step === 0 || step === latestMigration) return
    if (older !== "refuse") {
      yield* upgradeFile(path, { copy: older === "upgrade", announce: logUpgrade })
    } else if (step !== undefined && step < latestMigration) return yield* olderStore(path, step)
  })

/** The file of a store, and how it is opened. */
export interface StoreFileOptions extends Pick<StoreOptions, "filename" | "older" | "readOnly"> {
  /** Shared with other threads of this process on the same store. */
  readonly contention?: LockContention | undefined
}

/**
 * Provides the database of a store with its tables up to date. Work on the embedded store alone needs nothing else. A store of
 * an earlier version is upgraded, which the log says, and a copy is kept beside it; not while another process has it open.
 */
export const layer = (options: StoreFileOptions): Layer.Layer<SqlClient.SqlClient, StoreError> => {
  const { contention, filename, older = "upgrade", readOnly = false, ...others } = options
  return Layer.effectDiscard(orUnusable(filename)(prepareStore(filename, readOnly))).pipe(
    Layer.provideMerge(SqliteClient.layer({ filename, contention, readonly: readOnly })),
    Layer.provide(Layer.effectDiscard(lookFirst(filename, readOnly ? "refuse" : older))),
    Layer.provide(Layer.effectDiscard(checkStoreOptions({ filename, older, readOnly, ...others }))),
    redactLayerSpans
  )
}
