/** Backups that bear one name and the time when each was begun, of which the newest are kept. */
import * as DatabaseFiles from "@roster/domain/DatabaseFiles"
import { Effect } from "effect"
import { closeSync, existsSync, lstatSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs"
import { dirname, join, parse } from "node:path"
import { fromAccess, unavailable } from "../store/sqlite/StoreError.ts"
import { processMillis } from "../store/StoreClock.ts"
import { isStore } from "../store/sqlite/StoreContents.ts"

const headOf = (path: string) =>
  Effect.try(() => {
    if (!statSync(path).isFile()) return new Uint8Array()
    const head = Buffer.alloc(DatabaseFiles.databaseHeadBytes)
    const file = openSync(path, "r")
    try {
      return head.subarray(0, readSync(file, head))
    } finally {
      closeSync(file)
    }
  }).pipe(Effect.orElseSucceed(() => new Uint8Array()))

const look: DatabaseFiles.FileLook = { exists: (path) => Effect.sync(() => existsSync(path)), head: headOf }

/** Whether a file is, or belongs to, a store that is in use, or was. */
export const isUsed = (path: string) => DatabaseFiles.isOfDatabase(path, look, { isCopy: true })

/** A series of backups, and what is to go once the next one is complete. */
export interface Series {
  /** The file of the next backup. */
  readonly target: string
  /** Removes the oldest of the others, so that as many as were asked for are left, and gives their paths. */
  readonly removeOld: Effect.Effect<ReadonlyArray<string>, ReturnType<ReturnType<typeof fromAccess>>>
}

/** The time as it stands in names, such as `20261126T185613123Z`. */
const timeForm = /^-\d{8}T\d{9}Z$/

/**
 * The series `name-TIME.ext` of a file `name.ext`. It is refused before anything is written if a file bears such a name and
 * is no backup, since that one would be removed some day.
 */
export const seriesOf = Effect.fnUntraced(function* (file: string, keep: number) {
  const { dir, ext, name } = parse(file)
  const isOfSeries = (found: string) =>
    found.startsWith(name) && found.endsWith(ext) && timeForm.test(found.slice(name.length, found.length - ext.length))
  const names = yield* Effect.try({ try: () => readdirSync(dir), catch: fromAccess(file) })
  const earlier = names
    .filter(isOfSeries)
    .map((found) => join(dir, found))
    .toSorted()
  for (const path of earlier) {
    if (lstatSync(path).isFile() && !(yield* isUsed(path)) && (yield* isStore(path))) continue
    return yield* unavailable(
      path,
      `It has the name of an earlier backup and is none, or was used as a store since, so nothing was written or removed. Move it out of ${dirname(path)}.`
    )
  }
  const time = new Date(yield* processMillis).toISOString().replaceAll(/[-:.]/g, "")
  const series: Series = {
    target: join(dir, `${name}-${time}${ext}`),
    removeOld: Effect.forEach(earlier.slice(0, Math.max(0, earlier.length - (keep - 1))), (path) =>
      Effect.try({
        try: () => {
          rmSync(path)
          return path
        },
        catch: fromAccess(path)
      })
    )
  }
  return series
})
