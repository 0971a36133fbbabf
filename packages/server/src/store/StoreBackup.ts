/** Creates and restores backups of a store while other processes use it. (docs/decisions/backups.md) */
import { fnRedacted } from "@roster/domain"
import { Clock, Data, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { isFromDeadProcess, processMark } from "./ProcessMark.ts"
import { latestMigration } from "./Migrations.ts"
import * as Store from "./Store.ts"
import { contentsOf, isSame, isThere, newer, openReadOnly, refuseForeign } from "./StoreContents.ts"
import * as SqliteClient from "./sqlite/SqliteClient.ts"
import { freeName, publish, removeDatabase } from "./sqlite/AtomicFile.ts"
import { copyPages, type CopyOptions } from "./sqlite/StoreCopy.ts"
import { fromCause, unavailable } from "./sqlite/StoreError.ts"
import * as StoreFile from "./sqlite/StoreFile.ts"
import { quarantine, replacePages } from "./sqlite/StoreReplacement.ts"

/** The file cannot be restored: it is damaged, no store, or of a newer version. Nothing was changed. */
export class BackupRefused extends Schema.TaggedError<BackupRefused>()("BackupRefused", {
  filename: Schema.String,
  message: Schema.String
}) {}

/** A backup that was written. */
export interface Backup {
  /** The absolute path of the file. */
  readonly filename: string
  readonly bytes: number
  readonly contacts: number
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
  /** The number of contacts in the backup. */
  readonly contacts: number
  readonly replaced: Replaced
}

/** A restore that has happened. */
export interface Restored extends RestorePlan {
  /** The file that keeps the replaced content, if there was any. */
  readonly kept: string | undefined
}

/** Writes a checked backup that only its owner can read. It replaces an existing file only with `replace`. */
export const create = fnRedacted("StoreBackup.create")(function* (
  options: { readonly from: string; readonly to: string } & CopyOptions
) {
  const path = StoreFile.toPath(options.from)
  const target = resolve(options.to)
  if (!isThere(path)) return yield* unavailable(path, "There is no such file. Check the path.")
  if (isSame(path, target)) return yield* unavailable(target, "It is the store itself. Name another file.")
  if (existsSync(`${target}-wal`) || existsSync(`${target}-journal`)) {
    return yield* unavailable(target, "It is a store that is in use, or was. Name another file for the backup.")
  }
  yield* refuseForeign(path)
  const context = yield* Layer.build(SqliteClient.layer({ filename: path }))
  yield* SqliteClient.SqliteClient.pipe(
    Effect.flatMap((sqlite) => sqlite.backup(target, options)),
    Effect.provide(context)
  )
  const database = yield* openReadOnly(target)
  const { contacts, isRoster } = yield* contentsOf(database, target)
  if (!isRoster) return yield* unavailable(target, notComplete)
  const backup: Backup = { filename: target, bytes: statSync(target).size, contacts }
  return backup
}, Effect.scoped)

/**
 * Replaces the content of a store, with its keys and jobs, by that of a backup, while other processes may use it. The
 * old content is kept as `.before-restore-` and the time, or, if damaged and not in use, as `.damaged-`. The thread is
 * blocked while the old content is written.
 */
export const restore = fnRedacted("StoreBackup.restore")(function* <E = never, R = never>(options: {
  readonly from: string
  readonly to: string
  /** Runs before anything changes. If it fails, nothing does. */
  readonly approve?: (plan: RestorePlan) => Effect.Effect<void, E, R>
}) {
  const source = resolve(options.from)
  const path = StoreFile.toPath(options.to)
  if (path === StoreFile.memory) return yield* unavailable(path, "A store in memory cannot be restored. Name a file.")
  if (isSame(source, path)) return yield* refuse(source, "It is the store itself, and no backup of it.")
  yield* removeLeftovers(path)
  const staged = `${path}.${processMark}${randomUUID()}${stagedSuffix}`
  yield* Effect.addFinalizer(() => removeDatabase(staged))
  const found = yield* lookAt(path)
  const contacts = yield* stage(source, staged, found.pageSize).pipe(
    Effect.catchTag("StoreDamaged", ({ detail }) => refuse(source, `It is damaged or is no database (${detail}).`))
  )
  const plan: RestorePlan = { contacts, replaced: found.replaced }
  yield* options.approve?.(plan) ?? Effect.void

  const time = new Date(yield* Clock.currentTimeMillis).toISOString().replaceAll(/[-:]|\.\d+/g, "")
  const kept = freeName(`${path}.before-restore-${time}`)
  const aside = freeName(`${path}.damaged-${time}`)
  const restored = (kept: string | undefined, replaced = plan.replaced): Restored => ({ contacts, replaced, kept })
  const replaceDamaged = (message: string) =>
    Effect.as(
      Effect.andThen(quarantine(path, aside), publish(staged, path)),
      restored(aside, Replaced.Damaged({ message }))
    )

  return yield* Replaced.$match(plan.replaced, {
    Nothing: () => Effect.as(publish(staged, path), restored(undefined)),
    Damaged: ({ message }) => replaceDamaged(message),
    Store: () =>
      replacePages({ staged, path, kept }).pipe(
        Effect.as(restored(kept)),
        // Damage that opening did not find can show when all of it is read.
        Effect.catchTag("StoreDamaged", ({ message }) => replaceDamaged(message))
      )
  })
}, Effect.scoped)

const notComplete = "Its tables are not complete. Open the store once with this version."

const stagedSuffix = ".restoring"

/** Removes the staged files of killed restores. */
const removeLeftovers = (path: string) =>
  Effect.sync(() => {
    const begin = `${basename(path)}.`
    for (const name of readdirSync(dirname(path))) {
      if (!name.startsWith(begin) || !name.includes(stagedSuffix)) continue
      if (isFromDeadProcess(name.slice(begin.length))) rmSync(join(dirname(path), name), { force: true })
    }
  }).pipe(Effect.ignoreCause)

const refuse = (filename: string, detail: string) =>
  new BackupRefused({ filename, message: `${filename} cannot be restored. ${detail}` })

const lookAt = Effect.fnUntraced(
  function* (path: string) {
    if (!isThere(path)) return { replaced: Replaced.Nothing(), pageSize: undefined }
    yield* refuseForeign(path)
    const database = yield* StoreFile.open({ filename: path })
    const { contacts, isEmpty, isRoster, migration, pageSize } = yield* contentsOf(database, path)
    if (!isRoster && !isEmpty) return yield* unavailable(path, notComplete)
    if (migration > latestMigration) return yield* unavailable(path, newer(migration))
    return { replaced: Replaced.Store({ contacts }), pageSize }
  },
  Effect.catchTag("StoreDamaged", ({ message }) =>
    Effect.succeed({ replaced: Replaced.Damaged({ message }), pageSize: undefined })
  ),
  Effect.scoped
)

/** Copies the backup beside the store, checked and migrated, and gives its number of contacts. */
const stage = Effect.fnUntraced(function* (source: string, staged: string, pageSize: number | undefined) {
  yield* Effect.scoped(
    Effect.flatMap(openBackup(source), (database) => copyPages(database, staged, "It is there already."))
  )
  if (pageSize !== undefined) {
    yield* Effect.try({ try: () => setPageSize(staged, pageSize), catch: fromCause(staged) })
  }
  const context = yield* Layer.build(Store.layer({ filename: staged }))
  return yield* Effect.provide(settle, context).pipe(
    Effect.catchTag("SqlError", (error) => Effect.fail(unavailable(staged, error.message)))
  )
}, Effect.scoped)

/** Opens a backup. Refuses other files, and stores of a later version. */
const openBackup = Effect.fnUntraced(function* (source: string) {
  if (!existsSync(source)) return yield* refuse(source, "There is no such file.")
  const database = yield* openReadOnly(source)
  const { isRoster, migration } = yield* contentsOf(database, source)
  if (!isRoster) return yield* refuse(source, "It is no store of Roster.")
  if (migration > latestMigration) return yield* refuse(source, newer(migration))
  return database
})

const setPageSize = (path: string, pageSize: number) => {
  using database = new DatabaseSync(path)
  if (database.prepare("PRAGMA page_size").get()?.["page_size"] === pageSize) return
  database.exec(`PRAGMA page_size = ${pageSize}; VACUUM`)
}

/** Releases the jobs of the backup from their processes, which have other rows, and removes incomplete uploads. */
const settle = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM jobs WHERE state = 'Receiving'`
  yield* sql`UPDATE jobs SET lease = NULL, leased_until = 0 WHERE state = 'Loading'`
  const [row] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM contacts`
  return row?.count ?? 0
})
