/** What another process has cost so far, as Linux tells it. */
import { readFileSync } from "node:fs"

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

/** CPU time of the processes that this one started and that have ended, in seconds. */
export const cpuOfEnded = (): number => sum(statOf("self"), 13)

/**
 * The most memory that a process has held so far, in MiB. What `getrusage` says begins with that of the process that
 * started it.
 */
export const peakOf = (pid: number | "self"): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024
