/**
 * What becomes of a store of an earlier version, on any layer. Opening it to read refuses it and changes nothing; opening it
 * to write upgrades it, after saying what that rewrites and keeping a copy, and only while no other process is at work on
 * it. (docs/decisions/upgrades.md)
 */
import { KnownFields } from "@roster/domain/internal"
import { Context, Effect, Exit, Layer, Option, Predicate, References, Schedule, Scope } from "effect"
import { type Migrator, SqlClient, SqlError } from "effect/sql"
import { existsSync, realpathSync, rmSync } from "node:fs"
import { statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { yieldToEventLoop } from "../threads/Slices.ts"
import { lastMigration, latestMigration, migrate, newer, RewrittenContacts, rewritesSince } from "./Migrations.ts"
import { keepsSessions, lostSessions } from "./postgres/KeptSessions.ts"
import * as PostgresLoading from "./postgres/PostgresLoading.ts"
import { AnswerWithin, atWork, nameOf, type PostgresOptions, starting } from "./postgres/PostgresOptions.ts"
import { fileTime, freeName } from "./sqlite/AtomicFile.ts"
import { messageOf } from "./sqlite/SqliteError.ts"
import * as SqliteClient from "./sqlite/SqliteClient.ts"
import { openReadOnly, refuseForeign } from "./sqlite/StoreContents.ts"
import { copy, copyTo } from "./sqlite/StoreCopy.ts"
import {
  fromStatement,
  isLocked,
  isStoreError,
  type StoreError,
  StoreUnavailable,
  unavailable
} from "./sqlite/StoreError.ts"
import * as StoreFile from "./sqlite/StoreFile.ts"
import { userWords } from "./sqlite/StoreUsers.ts"
import { processMillis } from "./StoreClock.ts"
import { booleanIssue } from "./StoreOptions.ts"
import { stagedBeside, temporaryFolder } from "./TemporaryFiles.ts"

/** An upgrade that is about to happen. */
export interface Upgrade {
  /** The store, as its path or its address without user and password. */
  readonly store: string
  /** The step at which its tables are: the number of its last migration. */
  readonly from: number
  /** The step of this version. */
  readonly to: number
  /** What is rewritten of what people stored, in sentences. */
  readonly rewrites: ReadonlyArray<string>
  /** The file that keeps the store as it was, if one does. */
  readonly copy: string | undefined
}

/** An upgrade that has happened. */
export interface Upgraded extends Upgrade {
  /** The number of contacts that were rewritten. */
  readonly contacts: number
}

/** How to upgrade. */
export interface UpgradeOptions<E, R> {
  /** Whether a copy of a store in a file is kept beside it (default: true). */
  readonly copy?: boolean | undefined
  /** Runs before anything changes. If it fails, nothing does. */
  readonly announce?: ((upgrade: Upgrade) => Effect.Effect<void, E, R>) | undefined
}

const upgradeFields = KnownFields.fieldsOf<UpgradeOptions<unknown, unknown>>("an upgrade", {
  copy: booleanIssue,
  announce: true
})

/** Refuses options of an unknown name. */
const checkUpgrade = (name: string, options: unknown): Effect.Effect<void, StoreUnavailable> => {
  const refused = KnownFields.refusal(upgradeFields, options)
  return refused === undefined ? Effect.void : Effect.fail(unavailable(name, `${refused.message}.`))
}

/** Says what an upgrade does, before it does it. */
export const upgradeWords = ({ copy, from, rewrites, store, to }: Upgrade): ReadonlyArray<string> => [
  `Upgrading ${store}, of an earlier version of Roster: its tables go from step ${from} to ${to}.`,
  ...(rewrites.length === 0 ? ["What is stored stays as it is."] : rewrites),
  copy !== undefined
    ? `As it is now, it is kept in ${copy}.`
    : `No copy of it is kept${store.startsWith("postgres://") ? "; roster backup makes one" : ""}.`
]

/**
 * Why a store of an earlier version is not read.
 * @internal
 */
export const olderStore = (store: string, step: number) =>
  new StoreUnavailable({
    filename: store,
    isOlder: true,
    message:
      `The store ${store} cannot be used. It is of an earlier version of Roster: its tables are at step ${step}, and this ` +
      `version uses step ${latestMigration}. Nothing was changed. Upgrade it first: roster upgrade.`
  })

/**
 * Runs the missing migrations in one transaction, and gives the number of contacts that they rewrote.
 * @internal
 */
export const migrateAll = Effect.suspend(() => {
  let contacts = 0
  return migrate.pipe(
    // Its statements take as long as the tables are large.
    Effect.provideService(AnswerWithin, Infinity),
    Effect.provideService(RewrittenContacts, (count) => void (contacts += count)),
    // A fiber that makes so many steps would yield by a timer that a test may have replaced.
    Effect.andThen(yieldToEventLoop),
    Effect.provideService(References.PreventSchedulerYield, true),
    Effect.map(() => contacts)
  )
})

/**
 * The failures of the database and of a migration, as those of a store that cannot be used.
 * @internal
 */
export const orUnusable =
  (name: string) =>
  <A, R>(effect: Effect.Effect<A, SqlError.SqlError | Migrator.MigrationError | StoreError, R>) =>
    Effect.mapError(effect, (error): StoreError => {
      if (isStoreError(error)) return error
      const doing = "Its tables cannot be brought up to date"
      if (!SqlError.isSqlError(error)) return unavailable(name, `${doing}: ${error.message}`)
      const { _tag } = error.reason
      return _tag === "ConnectionError" || _tag === "AuthenticationError"
        ? unavailable(name, PostgresLoading.failure(error))
        : fromStatement(name, doing)(error)
    })

/** Upgrades the store of a client that nobody else works on: says so, keeps a copy, and migrates. */
const upgradeHere = Effect.fnUntraced(function* <E, R>(
  store: string,
  from: number,
  announce: UpgradeOptions<E, R>["announce"],
  keep: { readonly copy: string | undefined; readonly write: Effect.Effect<void, StoreError | SqlError.SqlError> }
) {
  const upgrade: Upgrade = { store, from, to: latestMigration, rewrites: rewritesSince(from), copy: keep.copy }
  yield* announce?.(upgrade) ?? Effect.void
  const contacts = yield* orUnusable(store)(Effect.andThen(keep.write, migrateAll))
  return { ...upgrade, contacts }
})

/** What there is to do for a store at a step: nothing for one that is new or up to date; a later one is refused. */
const isOlder = Effect.fnUntraced(function* (store: string, step: number) {
  if (step > latestMigration) return yield* unavailable(store, newer(step))
  return step > 0 && step < latestMigration
})

const mebibyte = 1024 * 1024

/** Refuses a copy for which the disk has no room, beside what the migrations write. */
const refuseFull = Effect.fnUntraced(function* ({ path, sql }: Held) {
  const [size] = yield* orUnusable(path)(sql<{ readonly bytes: number }>`
    SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size`)
  const needed = 2 * (size?.bytes ?? 0)
  const folder = dirname(path)
  // Where the system does not tell, writing it does.
  const room = yield* Effect.option(Effect.tryPromise(() => statfs(folder)))
  if (Option.isNone(room)) return
  const free = room.value.bavail * room.value.bsize
  if (free >= needed) return
  const inMebibytes = (bytes: number) => `${Math.ceil(bytes / mebibyte)} MiB`
  return yield* unavailable(
    path,
    `It is of an earlier version of Roster, and there is no room to keep a copy beside it before it is upgraded: that takes ` +
      `${inMebibytes(needed)}, and ${folder} has ${inMebibytes(free)}. Make room, or upgrade it without a copy: ` +
      "roster upgrade --no-copy."
  )
})

/** Opens a file that no other process has open, and keeps all others out. One that stays in use is not upgraded. */
const openAlone = (path: string, step: number) =>
  Effect.map(
    Effect.mapError(Layer.build(Layer.fresh(SqliteClient.layer({ filename: path, alone: true }))), (error) =>
      isLocked(error)
        ? new StoreUnavailable({
            filename: path,
            isLocked: true,
            message:
              `The store ${path} is of an earlier version of Roster (step ${step}) and in use by ${userWords(path)}, so it ` +
              "was not upgraded. End what uses it, such as roster serve of that version, and try again."
          })
        : error
    ),
    (context) => Context.get(context, SqlClient.SqlClient)
  )

/** The last migration of the store in a file, 0 if there is none. What a crash has left is completed first. */
const stepOf = Effect.fnUntraced(function* (path: string) {
  const step = yield* refuseForeign(path)
  if (step !== undefined) return step
  yield* Effect.scoped(StoreFile.open({ filename: path }))
  return (yield* refuseForeign(path)) ?? 0
})

/** An older store that this process alone has open. */
interface Held {
  readonly path: string
  readonly from: number
  readonly sql: SqlClient.SqlClient
  /** The name of its copy while that is written. */
  readonly draft: string
}

/** Opens an older store alone until the scope closes; `undefined` if it is of this version, or there is none yet. */
const hold = Effect.fnUntraced(function* (filename: string) {
  const given = StoreFile.toPath(filename)
  const path = existsSync(given) ? realpathSync(given) : given
  const seen = yield* stepOf(path)
  if (!(yield* isOlder(path, seen))) return undefined
  const sql = yield* openAlone(path, seen)
  // The look at the file has left it, and nobody else has it open.
  rmSync(`${path}-shm`, { force: true })
  // Another process may have been first.
  const from = yield* orUnusable(path)(Effect.provideService(lastMigration, SqlClient.SqlClient, sql))
  const held: Held = { path, from, sql, draft: yield* stagedBeside(path, ".partial") }
  return (yield* isOlder(path, from)) ? held : undefined
})

/** Copies a store that this process alone has open. */
const copyHeld = ({ path, sql }: Held, copying: Effect.Effect<void, StoreError>) =>
  orUnusable(path)(Effect.andThen(sql`PRAGMA wal_checkpoint(TRUNCATE)`, copying))

const upgradeHeld = Effect.fnUntraced(function* <E, R>(
  held: Held,
  { announce, copy: keepsCopy = true }: UpgradeOptions<E, R>,
  then: Effect.Effect<void, SqlError.SqlError | StoreError> = Effect.void
) {
  const { from, path, sql } = held
  const target = freeName(`${path}.before-upgrade-${fileTime(yield* processMillis)}`)
  if (keepsCopy) yield* refuseFull(held)
  const upgraded = yield* upgradeHere(path, from, announce, {
    copy: keepsCopy ? target : undefined,
    write: keepsCopy ? copyHeld(held, copyTo(path, { draft: held.draft, target, isAlone: true })) : Effect.void
  }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
  yield* orUnusable(path)(then)
  return upgraded
})

/**
 * Upgrades the store in a file, if it is of an earlier version, while no other process has it open. A process that is killed
 * leaves the store as it was, or upgraded.
 * @internal
 */
export const upgradeFile = Effect.fnUntraced(function* <E = never, R = never>(
  filename: string,
  options: UpgradeOptions<E, R> = {}
) {
  const held = yield* hold(filename)
  return held === undefined ? undefined : yield* upgradeHeld(held, options)
}, Effect.scoped)

/** An upgrade that is prepared, and has changed nothing yet. Nobody else opens the store meanwhile. */
export interface PendingUpgrade<E> {
  /** A copy of the store that is upgraded, in a temporary folder. */
  readonly preview: string
  /** Upgrades the store itself, and lets it go. */
  readonly carryOut: Effect.Effect<Upgraded, StoreError | E>
}

/**
 * Prepares the upgrade of the store in a file for a program that reads before it writes, and may come to nothing: it reads the
 * preview. Gives `undefined` for a store of this version, or none. The store stays closed to others until the scope closes.
 */
export const prepare = Effect.fnUntraced(function* <E = never, R = never>(
  filename: string,
  options: UpgradeOptions<E, R> = {}
) {
  yield* checkUpgrade(filename, options)
  const scope = yield* Effect.flatMap(Effect.scope, Scope.fork)
  const held = yield* Scope.provide(hold(filename), scope)
  if (held === undefined) {
    yield* Scope.close(scope, Exit.void)
    return undefined
  }
  if (options.copy !== false) yield* refuseFull(held)
  const folder = yield* Effect.mapError(temporaryFolder, ({ cause }) =>
    unavailable(
      tmpdir(),
      `A copy of the store cannot be written there: ${messageOf(cause)}. Name another folder by TMPDIR.`
    )
  )
  const preview = join(folder, "roster.db")
  yield* copyHeld(held, copy(held.path, preview, true))
  yield* upgradeFile(preview, { copy: false })
  const { sql } = held
  // What the migrations made up at random, and has been read.
  const sameIds = Effect.gen(function* () {
    const read = yield* openReadOnly(preview)
    const { id } = read.prepare("SELECT id FROM stores").get() ?? {}
    const { lists } = read.prepare("SELECT json_group_object(id, public_id) AS lists FROM lists").get() ?? {}
    yield* sql`UPDATE stores SET id = ${id}`
    yield* sql`
      UPDATE lists SET public_id = read.value FROM json_each(${lists}) AS read WHERE lists.id = CAST(read.key AS INTEGER)`
  }).pipe(Effect.scoped)
  const context = yield* Effect.context<R>()
  const pending: PendingUpgrade<E> = {
    preview,
    carryOut: upgradeHeld(held, options, sameIds).pipe(
      Effect.ensuring(Scope.close(scope, Exit.void)),
      Effect.provideContext(context)
    )
  }
  return pending
})

/** The sessions of other processes that are at work on a database: of an earlier version, while its store is of one. */
const othersAtWork = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly pid: number }>`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = ${atWork} AND pid <> pg_backend_pid() ORDER BY pid`
)

/** How long an upgrade of PostgreSQL waits for other processes to end, as that of a file does. */
const untilFree = { schedule: Schedule.spaced("250 millis"), times: 20 }

/**
 * Upgrades the store of a database, if it is of an earlier version, while the mark of no older process is there.
 * @internal
 */
export const upgradeDatabase = Effect.fnUntraced(function* <E = never, R = never>(
  name: string,
  options: UpgradeOptions<E, R> = {}
) {
  const step = Effect.gen(function* () {
    const from = yield* lastMigration
    if (!(yield* isOlder(name, from))) return undefined
    const others = yield* othersAtWork
    if (others.length === 0) return from
    // They may have been first.
    if (!(yield* isOlder(name, yield* lastMigration))) return undefined
    const pids = others.map(({ pid }) => pid).join(", ")
    return yield* new StoreUnavailable({
      filename: name,
      isLocked: true,
      message:
        `The store ${name} is of an earlier version of Roster (step ${from}), and processes of that version are at work on ` +
        `it, so it was not upgraded: the sessions ${pids} of pg_stat_activity. End them, such as roster serve, and try again.`
    })
  })
  const from = yield* orUnusable(name)(
    Effect.retry(step, { ...untilFree, while: (error) => isStoreError(error) && isLocked(error) })
  )
  if (from === undefined) return undefined
  return yield* upgradeHere(name, from, options.announce, { copy: undefined, write: Effect.void })
})

/**
 * Works on a database with connections of its own, where statements wait for locks as long as they have to.
 * @internal
 */
export const onDatabase = <A, E, R>(
  options: PostgresOptions,
  work: (name: string) => Effect.Effect<A, E | StoreError, R | SqlClient.SqlClient>
) => {
  const name = nameOf(options)
  const checked = Effect.gen(function* () {
    const isKept = yield* Effect.mapError(keepsSessions(yield* SqlClient.SqlClient), (error) =>
      unavailable(name, PostgresLoading.failure(error))
    )
    if (!isKept) return yield* unavailable(name, `It is behind a pooler that ${lostSessions}.`)
    return yield* work(name)
  })
  const connections = PostgresLoading.layer({ ...options, maxConnections: 2 }, undefined, starting)
  return Effect.provide(checked, Layer.fresh(connections))
}

/**
 * Upgrades a store, in a file or on PostgreSQL, if it is of an earlier version, and gives what was done; `undefined` if it is
 * of this one, or there is none yet.
 */
export const upgrade = <E = never, R = never>(
  store: string | PostgresOptions,
  options: UpgradeOptions<E, R> = {}
): Effect.Effect<Upgraded | undefined, StoreError | E, Exclude<R, SqlClient.SqlClient>> =>
  Predicate.isString(store)
    ? Effect.andThen(checkUpgrade(store, options), upgradeFile(store, options))
    : Effect.andThen(
        checkUpgrade(nameOf(store), options),
        onDatabase(store, (name) => upgradeDatabase(name, options))
      )

/**
 * Says in the log what an upgrade does.
 * @internal
 */
export const logUpgrade = (upgrade: Upgrade) => Effect.logInfo(upgradeWords(upgrade).join(" "))
