/**
 * The last backup of each store that this user has made by `roster backup`: its path, in a file of the user's state folder.
 * Neither a store nor a service knows of its backups.
 */
import type { PostgresOptions } from "@roster/server"
import type { PostgresFinding as Finding } from "@roster/server/PostgresCheck"
import { DateTime, Duration, Effect, FileSystem, Option, Path, Predicate, Redacted } from "effect"
import { createHash } from "node:crypto"
import { writeLine } from "../../files/AtomicFile.ts"
import { readOwn } from "../../files/TrustedFile.ts"
import { stateFolder, userFolderPath } from "../../files/UserFolder.ts"

type Store = string | PostgresOptions

const folderName = "backups"

/** More than a path takes. */
const maximumBytes = 64 * 1024

/** One text for all paths to a file, and for all users of a database. */
const identityOf = Effect.fnUntraced(function* (store: Store) {
  if (!Predicate.isString(store)) {
    const { host, pathname } = new URL(Redacted.value(store.url))
    return host + pathname
  }
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(fs.realPath(store), () => store)
})

const noteOf = Effect.fnUntraced(function* (store: Store) {
  const path = yield* Path.Path
  const name = createHash("sha256")
    .update(yield* identityOf(store))
    .digest("hex")
  return path.join(yield* userFolderPath("state"), folderName, name)
})

/** Notes a backup. A failure to note it does not fail the backup. */
export const noteBackup = Effect.fnUntraced(
  function* (store: Store, backup: string) {
    yield* stateFolder(folderName)
    yield* writeLine(yield* noteOf(store), backup, { force: true })
  },
  (note) => Effect.ignore(note)
)

/** With an older one, much would be lost. */
const tolerated = Duration.days(7)

const inWords = new Intl.RelativeTimeFormat("en")

const ago = (age: Duration.Duration): string => {
  const hours = Math.floor(Duration.toHours(age))
  return hours < 48 ? inWords.format(-hours, "hour") : inWords.format(-Math.floor(hours / 24), "day")
}

/** How old the last backup of a store is, as far as this user can know. */
export const lastBackup = Effect.fnUntraced(function* (store: Store) {
  const fs = yield* FileSystem.FileSystem
  const finding = (result: Finding["result"], detail: string): Finding => ({ check: "backup", result, detail })
  const noted = yield* Effect.option(Effect.flatMap(noteOf(store), (note) => readOwn(note, maximumBytes)))
  const file = Option.getOrUndefined(noted)?.trim()
  if (file === undefined) {
    return finding("warning", "none that this user made is known: make one by roster backup FILE")
  }
  const backupTime = Option.flatMap(yield* Effect.option(fs.stat(file)), ({ mtime }) => mtime)
  if (Option.isNone(backupTime)) return finding("warning", `the last that this user made is gone from ${file}`)
  const age = DateTime.distance(DateTime.fromDateUnsafe(backupTime.value), yield* DateTime.now)
  const detail = `the last that this user made is of ${ago(age)}: ${file}`
  return Duration.isGreaterThan(age, tolerated)
    ? finding("warning", `${detail}. Make one by roster backup FILE`)
    : finding("ok", detail)
})
