/** Backs up a store while others use it, and restores one that nobody uses. (docs/decisions/backups.md) */
import { fnRedacted, KnownFields } from "@roster/domain/internal"
import { Context, Data, Effect, Exit, Layer, Predicate, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, realpathSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { isUsed, seriesOf } from "./BackupSeries.ts"
import { type CarriedForward, carryForward, type CarryOptions } from "./CarriedForward.ts"
import { lastMigration, latestMigration, migrateTo, newer } from "../store/Migrations.ts"
import * as PostgresLoading from "../store/postgres/PostgresLoading.ts"
import { isCommitLost } from "../store/postgres/PostgresError.ts"
import { nameOf, type PostgresOptions, withoutRepeat } from "../store/postgres/PostgresOptions.ts"
import { messageOf } from "../store/sqlite/SqliteError.ts"
import { isSqlErrorOf } from "../store/StoreFailure.ts"
import { removeTemporaryFiles, stagedBeside, temporaryFolder } from "../store/TemporaryFiles.ts"
import * as Store from "../store/Store.ts"
import { copyRows, firstFilled, lockTables, readSnapshot } from "../store/StoreRows.ts"
import * as SqliteClient from "../store/sqlite/SqliteClient.ts"
import { fileTime, freeName, publish } from "../store/sqlite/AtomicFile.ts"
import { contentsOf, isSame, isThere, openReadOnly, refuseForeign } from "../store/sqlite/StoreContents.ts"
import { copy, type Copying, copyTo } from "../store/sqlite/StoreCopy.ts"
import { unavailable } from "../store/sqlite/StoreError.ts"
import * as StoreFile from "../store/sqlite/StoreFile.ts"
import { processMillis } from "../store/StoreClock.ts"
import { openAlone, replace, replaceDamaged } from "../store/sqlite/StoreReplacement.ts"

export type { CarriedForward, CarryOptions, CredentialLabel } from "./CarriedForward.ts"

/**
 * The file cannot be restored: it is damaged, no store, of a newer version, or the PostgreSQL is not empty. Nothing was
 * changed.
 */
export class BackupRefused extends Schema.TaggedError<BackupRefused>()("BackupRefused", {
  /** The path of the backup. */
  filename: Schema.String,
  message: Schema.String
}) {}

/** A backup that was written. */
export interface Backup {
  /** The absolute path of the file. */
  readonly filename: string
  /** The size of the file, in bytes. */
  readonly bytes: number
  /** The number of contacts in it. */
  readonly contacts: number
  /** The paths of the older backups that were removed. */
  readonly removed: ReadonlyArray<string>
}

/** What a restore replaces. */
export type Replaced = Data.TaggedEnum<{
  Nothing: {}
  Store: { readonly contacts: number }
  Damaged: { readonly message: string }
}>

/** Constructors and matcher of `Replaced`. */
export const Replaced = Data.taggedEnum<Replaced>()

/** A restore that is about to happen. */
export interface RestorePlan {
  /** The store that is restored, as its path or its address without user and password. */
  readonly store: string
  /** The number of contacts in the backup. */
  readonly contacts: number
  /** What is at the place of the store now. */
  readonly replaced: Replaced
  /** What is carried forward from there, or comes back. */
  readonly carried: CarriedForward
}

/** A restore that has happened. */
export interface Restored extends RestorePlan {
  /** The file that keeps the replaced content, if there was any. */
  readonly kept: string | undefined
}

/** Refuses to replace what is no backup: a store that is, or was, in use, or a file that belongs to one. */
const refuseUsed = Effect.fnUntraced(function* (target: string) {
  if (yield* isUsed(target)) {
    return yield* unavailable(
      target,
      "It is, or belongs to, a store that is in use, or was. Name another file for the backup."
    )
  }
})

/** Copies a store in a file. */
const copyFile = Effect.fnUntraced(function* (from: string, copying: Copying) {
  const { target } = copying
  const path = StoreFile.toPath(from)
  if (!isThere(path)) return yield* unavailable(path, "There is no such file. Check the path.")
  if (isSame(path, target)) return yield* unavailable(target, "It is the store itself. Name another file.")
  yield* refuseUsed(target)
  yield* refuseForeign(path)
  // Checks the file, and completes what a crash has left.
  yield* StoreFile.open({ filename: path, readonly: true })
  yield* copyTo(path, copying)
})

/** Copies a store on PostgreSQL as of one moment, by way of a file beside the target. */
const copyPostgres = Effect.fnUntraced(function* (from: PostgresOptions, copying: Copying) {
  const { target } = copying
  const name = nameOf(from)
  yield* refuseUsed(target)
  const staged = yield* stagedBeside(target, ".partial")
  const { sql: postgres } = yield* clientOf(PostgresLoading.layer(from))
  const { context, sql: file } = yield* clientOf(SqliteClient.layer({ filename: staged }))
  const copied = Effect.gen(function* () {
    yield* readSnapshot(postgres)
    const latest = yield* Effect.provideService(lastMigration, SqlClient.SqlClient, postgres)
    if (latest === 0) return yield* unavailable(name, "It holds no store.")
    if (latest > latestMigration) return yield* unavailable(name, newer(latest))
    yield* Effect.provide(migrateTo(latest), context)
    yield* file.withTransaction(copyRows(postgres, file))
  })
  yield* postgres.withTransaction(copied).pipe(
    withoutRepeat,
    orUnavailable(name, "It cannot be read."),
    Effect.catchTag("MigrationError", (error) => Effect.fail(unavailable(staged, error.message)))
  )
  yield* copyTo(staged, copying)
})

/**
 * Writes a checked backup that only its owner can read. It replaces an existing file only with `replace`. With `keep` the
 * time is added to its name, and of the backups so named the newest are kept; the others are removed once it is complete.
 */
export const create = fnRedacted("StoreBackup.create")(function* (options: {
  /** The file of a store, or the PostgreSQL that it is on. */
  readonly from: string | PostgresOptions
  readonly to: string
  /** How many backups to keep, this one among them. */
  readonly keep?: number | undefined
  /** Whether the backup may replace an existing file (default: false). */
  readonly replace?: boolean | undefined
}) {
  const { from, keep } = options
  const to = resolve(options.to)
  const series = keep === undefined ? undefined : yield* seriesOf(to, keep)
  const target = series?.target ?? to
  // Beside the file that was named, where the next backup of the series removes what a killed one has left.
  const copying = { draft: yield* stagedBeside(to, ".partial"), target, replace: options.replace }
  yield* Predicate.isString(from) ? copyFile(from, copying) : copyPostgres(from, copying)
  const database = yield* openReadOnly(target)
  const { contacts, isRoster } = yield* contentsOf(database, target)
  if (!isRoster) return yield* unavailable(target, notComplete)
  const removed = series === undefined ? [] : yield* series.removeOld
  const backup: Backup = { filename: target, bytes: statSync(target).size, contacts, removed }
  return backup
}, Effect.scoped)

/** What to restore, and where. */
export interface RestoreOptions<To, E, R> extends CarryOptions {
  /** The path of the backup. */
  readonly from: string
  /** The store to replace. */
  readonly to: To
  /** Runs before anything changes. If it fails, nothing does. */
  readonly approve?: (plan: RestorePlan) => Effect.Effect<void, E, R>
}

const restoreFields = KnownFields.fieldsOf<RestoreOptions<unknown, unknown, unknown>>("a restore", {
  from: true,
  to: true,
  approve: true,
  bringBackKeys: true,
  resubscribe: true,
  revokeKeys: true
})

/** Replaces a store in a file. */
const restoreFile = Effect.fnUntraced(function* <E, R>(options: RestoreOptions<string, E, R>) {
  const { approve, from: source, to } = options
  const given = StoreFile.toPath(to)
  if (given === StoreFile.memory) return yield* unavailable(given, "A store in memory cannot be restored. Name a file.")
  // SQLite puts the files of a store beside the file that a link leads to.
  const path = existsSync(given) ? realpathSync(given) : given
  if (isSame(source, path)) return yield* refuse(source, "It is the store itself, and no backup of it.")
  const staged = yield* stagedBeside(path, ".restoring")
  const { database, replaced } = yield* inspect(path)
  const contacts = yield* stage(source, staged)
  const carried = yield* carryForward(database, staged, options)
  const plan: RestorePlan = { store: path, contacts, replaced, carried }
  yield* approve?.(plan) ?? Effect.void

  const time = fileTime(yield* processMillis)
  const names = (kind: string) => ({ staged, path, kept: freeName(`${path}.${kind}-${time}`) })
  const restored = (kept?: string): Restored => ({ ...plan, kept })
  if (database !== undefined) {
    const store = names("before-restore")
    return yield* Effect.as(replace(database, store), restored(store.kept))
  }
  if (replaced._tag === "Damaged") {
    const store = names("damaged")
    return yield* Effect.as(replaceDamaged(store), restored(store.kept))
  }
  return yield* Effect.as(publish(staged, path), restored())
})

/** Fills an empty PostgreSQL in one transaction. */
const restorePostgres = Effect.fnUntraced(function* <E, R>(options: RestoreOptions<PostgresOptions, E, R>) {
  const { approve, from: source, to } = options
  const name = nameOf(to)
  const refuseFilled = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
    const filled = yield* firstFilled(sql)
    if (filled === undefined) return
    return yield* refuse(source, `${name} is not empty: there are rows in its table ${filled}. Name a new database.`)
  })
  // Nothing is created before the approval.
  yield* Effect.gen(function* () {
    const { sql } = yield* clientOf(PostgresLoading.layer(to))
    const latest = yield* Effect.provideService(lastMigration, SqlClient.SqlClient, sql)
    if (latest > latestMigration) return yield* unavailable(name, newer(latest))
    if (latest === latestMigration) yield* refuseFilled(sql)
  }).pipe(Effect.scoped, orUnavailable(name, "It cannot be read."))
  // Not beside the backup, which may be on a read-only medium.
  yield* removeTemporaryFiles
  const folder = yield* Effect.mapError(temporaryFolder, ({ cause }) =>
    unavailable(
      tmpdir(),
      `A copy of the backup cannot be written there: ${messageOf(cause)}. Name another folder by TMPDIR.`
    )
  )
  const staged = join(folder, "restoring.db")
  const contacts = yield* stage(source, staged)
  const carried = yield* carryForward(undefined, staged, options)
  const restored: Restored = { store: name, contacts, replaced: Replaced.Nothing(), carried, kept: undefined }
  yield* approve?.(restored) ?? Effect.void

  const { sql: postgres } = yield* clientOf(Store.layerPostgres(to))
  const { sql: file } = yield* clientOf(SqliteClient.layer({ filename: staged }))
  yield* postgres
    .withTransaction(
      Effect.andThen(Effect.andThen(lockTables(postgres), refuseFilled(postgres)), copyRows(file, postgres))
    )
    .pipe(withoutRepeat, orUnavailable(name, "It cannot be written, and is as empty as it was."))
  return restored
})

/**
 * Replaces a store, with its keys and jobs, by a backup. A store in a file must be in use by nobody, and stays closed to
 * others meanwhile; its old content is kept as `.before-restore-` and the time, or, if damaged, as `.damaged-`. What it
 * says of revoked keys, of people who get no mail and in its audit trail is carried forward. A PostgreSQL has to be empty.
 */
export const restore = fnRedacted("StoreBackup.restore")(function* <E = never, R = never>(
  options: RestoreOptions<string | PostgresOptions, E, R>
) {
  const { to } = options
  const from = resolve(options.from)
  const refused = KnownFields.refusal(restoreFields, options)
  if (refused !== undefined) return yield* refuse(from, `${refused.message}.`)
  return yield* Predicate.isString(to)
    ? restoreFile({ ...options, from, to })
    : restorePostgres({ ...options, from, to })
}, Effect.scoped)

/** The client of a layer, which is closed with the scope. */
const clientOf = <Provided, E>(layer: Layer.Layer<SqlClient.SqlClient | Provided, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context) => ({
    context,
    sql: Context.get(context, SqlClient.SqlClient)
  }))

/** Failures of a PostgreSQL, as those of a store that cannot be used. */
const orUnavailable =
  (name: string, what: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchIf(effect, isSqlErrorOf<E>, (error) => {
      return Effect.fail(
        unavailable(name, `${isCommitLost(error) ? lostCommit : what} ${PostgresLoading.failure(error)}`)
      )
    })

const lostCommit = "Check whether it was done before you repeat it."

const notComplete = "Its tables are not complete. Open the store once with this version."

const refuse = (filename: string, detail: string) =>
  new BackupRefused({ filename, message: `${filename} cannot be restored. ${detail}` })

/** What is to be replaced. A sound store is kept from others until the restore has ended. */
const inspect = Effect.fnUntraced(
  function* (path: string) {
    if (!isThere(path)) return { replaced: Replaced.Nothing(), database: undefined }
    yield* refuseForeign(path)
    const scope = yield* Effect.flatMap(Effect.scope, Scope.fork)
    const database = yield* Scope.provide(openAlone(path), scope)
    const { contacts, isEmpty, isRoster, migration } = yield* contentsOf(database, path).pipe(
      // Nobody may have a damaged store open when it is replaced, this process neither.
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    if (!isRoster && !isEmpty) return yield* unavailable(path, notComplete)
    if (migration > latestMigration) return yield* unavailable(path, newer(migration))
    return { replaced: Replaced.Store({ contacts }), database }
  },
  Effect.catchTag("StoreDamaged", ({ message }) =>
    Effect.succeed({ replaced: Replaced.Damaged({ message }), database: undefined })
  )
)

/** Copies the backup, checked and migrated, and gives its number of contacts. */
const stage = (source: string, staged: string) =>
  Effect.gen(function* () {
    yield* refuseUnfit(source)
    yield* copy(source, staged)
    const context = yield* Layer.build(Store.layer({ filename: staged, older: "upgradeWithoutCopy" }))
    return yield* Effect.provide(settle, context).pipe(
      Effect.catchTag("SqlError", (error) => Effect.fail(unavailable(staged, error.message)))
    )
  }).pipe(
    Effect.scoped,
    Effect.catchTag("StoreDamaged", ({ detail }) => refuse(source, `It is damaged or is no database (${detail}).`))
  )

/** Refuses what is no backup, and stores of a later version. */
const refuseUnfit = Effect.fnUntraced(function* (source: string) {
  if (!existsSync(source)) return yield* refuse(source, "There is no such file.")
  const database = yield* openReadOnly(source)
  const { isRoster, migration } = yield* contentsOf(database, source)
  if (!isRoster) return yield* refuse(source, "It is no store of Roster.")
  if (migration > latestMigration) return yield* refuse(source, newer(migration))
}, Effect.scoped)

/** Releases the jobs of the backup from their processes, which have other rows, and removes incomplete uploads. */
const settle = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM jobs WHERE state = 'Receiving'`
  yield* sql`UPDATE jobs SET lease = NULL, leased_until = 0 WHERE state = 'Loading'`
  const [row] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM contacts`
  return row?.count ?? 0
})
