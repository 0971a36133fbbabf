/**
 * Compiled code of earlier starts, kept in the cache folder of the user: without it, most of the time of a start goes into
 * compiling. It loads nothing, since all that is loaded before it is compiled anew.
 */
import type { Stats } from "node:fs"

/** Where the cache of this user is, by the conventions of the platform; `undefined` where nobody can say. */
export const cacheFolder = (
  env: Readonly<Record<string, string | undefined>>,
  platform: string
): string | undefined => {
  const { isAbsolute, join } = process.getBuiltinModule("node:path")
  const below = (folder: string | undefined, ...names: ReadonlyArray<string>) =>
    folder !== undefined && isAbsolute(folder) ? join(folder, ...names) : undefined
  const own =
    platform === "win32"
      ? below(env["LOCALAPPDATA"], "roster", "Cache")
      : platform === "darwin"
        ? below(env["HOME"], "Library", "Caches", "roster")
        : below(env["HOME"], ".cache", "roster")
  return below(env["XDG_CACHE_HOME"], "roster") ?? own
}

const isOwn = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid()

/**
 * Makes a folder in one that is there and belongs to this user; the home of a user who has none is not for us to make, and
 * in that of another, where `sudo` may lead, its owner could not use what we made.
 */
const made = (folder: string): boolean => {
  const { existsSync, mkdirSync, statSync } = process.getBuiltinModule("node:fs")
  const { dirname } = process.getBuiltinModule("node:path")
  if (existsSync(folder)) return true
  const parent = dirname(folder)
  const home = existsSync(parent) ? parent : dirname(parent)
  if (!existsSync(home) || !isOwn(statSync(home))) return false
  if (home !== parent) mkdirSync(parent, { mode: 0o700 })
  mkdirSync(folder, { mode: 0o700 })
  return true
}

/** What others could write to would be run as this user. */
const isPrivate = (folder: string): boolean => {
  const found = process.getBuiltinModule("node:fs").statSync(folder)
  return isOwn(found) && (process.getuid === undefined || (found.mode & 0o022) === 0)
}

/**
 * Keeps what is compiled from here on, and takes what was kept. Without a folder that belongs to this user a start takes
 * longer, and that is all.
 */
export const keepCompiled = (): void => {
  try {
    const { enableCompileCache, getCompileCacheDir } = process.getBuiltinModule("node:module")
    // Whoever says by a variable of Node where, or that there is to be none, has said it.
    if (getCompileCacheDir() !== undefined || process.env["NODE_DISABLE_COMPILE_CACHE"] === "1") return
    const folder = cacheFolder(process.env, process.platform)
    if (folder !== undefined && made(folder) && isPrivate(folder)) enableCompileCache(folder)
  } catch {
    // A full disk or a folder that cannot be written is no reason not to start.
  }
}
