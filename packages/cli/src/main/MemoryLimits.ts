/**
 * Restarts `roster serve` with memory settings that Node and malloc read only at start (about 140 MiB less under attack).
 * (docs/decisions/performance.md)
 */

const semiSpace = "--max-semi-space-size"

/** The flag of V8, in MiB: the young generation is twice as large, and by default 64 MiB. */
const flag = `${semiSpace}=8`

const mebibyte = String(1024 * 1024)

/**
 * Two arenas instead of one per thread; blocks of 1 MiB or more come from the system, so freeing them returns them. The
 * trim threshold is set because malloc would otherwise return and take 128 KiB per request.
 */
const malloc = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: mebibyte, MALLOC_TRIM_THRESHOLD_: mebibyte }

/** Replaces this process, which keeps its number and its files, unless its size was given or the system cannot do it. */
export const relaunchWithMemoryLimits = (): void => {
  const { argv, env, execArgv, execPath, execve, versions } = process
  if ([...execArgv, env["NODE_OPTIONS"] ?? ""].join(" ").includes(semiSpace)) return
  // Not on Windows, in other runtimes, and where a parent speaks to this process over a channel, which would be lost.
  if (execve === undefined || "bun" in versions || "deno" in versions || env["NODE_CHANNEL_FD"] !== undefined) return
  execve.call(process, execPath, [execPath, flag, ...execArgv, ...argv.slice(1)], { ...malloc, ...env })
}
