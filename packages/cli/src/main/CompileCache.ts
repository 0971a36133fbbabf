/**
 * Caches compiled code in the user's cache folder. It imports nothing, since code loaded before it is not cached.
 * Figure: `roster contacts get` in "Start-up of the command line" of benchmarks/RESULTS.md
 */

/** The cache folder by the conventions of the platform; `undefined` if the environment names no home. */
export const cacheFolder = (
  env: Readonly<Record<string, string | undefined>>,
  platform: string
): string | undefined => {
  const { isAbsolute, join } = process.getBuiltinModule("node:path")
  const below = (folder: string | undefined, ...names: ReadonlyArray<string>) =>
    folder !== undefined && isAbsolute(folder) ? join(folder, ...names) : undefined
  const platformFolder =
    platform === "win32"
      ? below(env["LOCALAPPDATA"], "roster", "Cache")
      : platform === "darwin"
        ? below(env["HOME"], "Library", "Caches", "roster")
        : below(env["HOME"], ".cache", "roster")
  return below(env["XDG_CACHE_HOME"], "roster") ?? platformFolder
}

/**
 * Whether only this user can write to the folder, whose code runs as this user. A missing folder is created only below
 * a home of this user: under `sudo` the home can be another user's, who could not use a folder of root.
 */
const isPrivate = (folder: string): boolean => {
  const { existsSync, mkdirSync, statSync } = process.getBuiltinModule("node:fs")
  const { dirname } = process.getBuiltinModule("node:path")
  const isOwn = (path: string) => process.getuid === undefined || statSync(path).uid === process.getuid()
  if (!existsSync(folder)) {
    const parent = dirname(folder)
    if (!isOwn(existsSync(parent) ? parent : dirname(parent))) return false
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  return isOwn(folder) && (process.getuid === undefined || (statSync(folder).mode & 0o022) === 0)
}

/** Enables the cache, unless a variable of Node disables it or there is no private folder for it. */
export const enableCompileCache = (): void => {
  try {
    const node = process.getBuiltinModule("node:module")
    if (node.getCompileCacheDir() !== undefined || process.env["NODE_DISABLE_COMPILE_CACHE"] === "1") return
    const folder = cacheFolder(process.env, process.platform)
    if (folder !== undefined && isPrivate(folder)) node.enableCompileCache(folder)
  } catch {
    // A missing home, a full disk or a read-only folder must not prevent the start.
  }
}
