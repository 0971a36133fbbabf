/** What another process has cost so far, as Linux tells it. */
import { readdirSync, readFileSync } from "node:fs"

const ticksPerSecond = 100

/** The fields behind the name, which may hold anything. */
const statOf = (pid: number | "self"): ReadonlyArray<number> => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8")
  return text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number)
}

const sum = (fields: ReadonlyArray<number>, first: number): number =>
  ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) / ticksPerSecond

/** CPU time of a process with its threads, in seconds. */
export const cpuOf = (pid: number): number => sum(statOf(pid), 11)

/** CPU time of a process and of all that it started, those that have ended included, in seconds. */
export const cpuOfFamily = (pid: number): number => {
  let seconds = cpuOf(pid) + sum(statOf(pid), 13)
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = statOf(Number(name))
      if (fields[1] === pid) seconds += sum(fields, 11)
    } catch {
      // It has just ended, and counts as such the next time.
    }
  }
  return seconds
}

/** CPU time of the processes that this one started and that have ended, in seconds. */
export const cpuOfEnded = (): number => sum(statOf("self"), 13)

/**
 * The most memory that a process has held so far, in MiB. What `getrusage` says begins with that of the process that
 * started it.
 */
export const peakOf = (pid: number | "self"): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024
