/**
 * Starts `roster serve` anew with what Node and malloc take only at their start: under attack it holds some 140 MiB less.
 * (https://github.com/roster-effect/roster/blob/main/docs/decisions/performance.md)
 */

const semiSpace = "--max-semi-space-size"

/** The flag of V8, in MiB: the young generation is twice as large, and by default 64 MiB. */
const flag = `${semiSpace}=8`

const mebibyte = String(1024 * 1024)

/**
 * Settings of malloc. It would keep what each of the threads has freed for this thread alone, and give pieces of up to
 * 32 MiB from a memory of which other pieces keep it from giving anything back. With a threshold for pieces of their own it
 * would give back each 128 KiB at the end of that memory, and take them again for the next request.
 */
const malloc = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: mebibyte, MALLOC_TRIM_THRESHOLD_: mebibyte }

/** Replaces this process, which keeps its number and its files, unless its size was given or the system cannot do it. */
export const replaceProcess = (): void => {
  const { argv, env, execArgv, execPath, execve, versions } = process
  if ([...execArgv, env["NODE_OPTIONS"] ?? ""].join(" ").includes(semiSpace)) return
  // Not on Windows, in other runtimes, and where a parent speaks to this process over a channel, which would be lost.
  if (execve === undefined || "bun" in versions || "deno" in versions || env["NODE_CHANNEL_FD"] !== undefined) return
  execve.call(process, execPath, [execPath, flag, ...execArgv, ...argv.slice(1)], { ...malloc, ...env })
}
