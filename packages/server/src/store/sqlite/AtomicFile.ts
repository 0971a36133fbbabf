/** Database files that appear under their name whole or not at all, readable by their owner alone. */
import { databaseSuffixes } from "@roster/domain/DatabaseFiles"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { fromAccess, type StoreUnavailable, systemCode } from "./StoreError.ts"

/** Creates an empty file with mode 0600, which SQLite gives its -wal and -shm too; false if the path is taken. */
export const createPrivate = (path: string): Effect.Effect<boolean, StoreUnavailable> =>
  Effect.try({
    try: () => {
      // Linked after its descriptor is closed: closing one of a database drops the locks of this process on it.
      const draft = `${path}.${randomUUID()}.new`
      closeSync(openSync(draft, "wx", 0o600))
      try {
        linkSync(draft, path)
        return true
      } catch (cause) {
        if (systemCode(cause) === "EEXIST") return false
        throw cause
      } finally {
        rmSync(draft)
      }
    },
    catch: fromAccess(path)
  })

/** Gives a finished draft its name. An existing file fails it unless it may be replaced. */
export const publish = (draft: string, path: string, replace = false): Effect.Effect<void, StoreUnavailable> =>
  Effect.try({
    try: () => {
      // Unlike a rename, a link never replaces a file.
      if (replace) renameSync(draft, path)
      else linkSync(draft, path)
      syncFolder(path)
    },
    catch: fromAccess(path)
  })

/** Flushes the folder of a file to disk, where the system can, so that its names survive a power loss. */
export const syncFolder = (path: string): void => {
  try {
    const folder = openSync(dirname(path), "r")
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch {
    // Windows opens no folders, and some network disks sync none.
  }
}

/** A time as it stands in the names of files that are kept, such as `20261129T164500Z`. */
export const fileTime = (millis: number): string => new Date(millis).toISOString().replaceAll(/[-:]|\.\d+/g, "")

/** The name, or the name with the first number behind it that is free: two restores can happen in one second. */
export const freeName = (name: string): string => {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!existsSync(candidate)) return candidate
  }
}

/** Removes a database that no process has open, with the files beside it. */
export const removeDatabase = (path: string): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const suffix of databaseSuffixes) rmSync(path + suffix, { force: true })
  })
