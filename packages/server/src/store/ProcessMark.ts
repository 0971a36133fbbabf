/** Marks of this process in file names and leases, by which the leftovers of a killed process are recognised. */
import { Effect, Hash, Random } from "effect"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { systemCode } from "./sqlite/StoreError.ts"

/** The scope of process numbers. Containers, and machines on one database, can share a host name. */
const machine = ((): string => {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return hostname()
  }
})()

/** When a process started, in ticks since the boot; `undefined` where the system does not tell. */
const startOf = (pid: string): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The 22nd field. The second, the name of the program in parentheses, can hold anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
  } catch {
    return undefined
  }
}

const start = startOf(String(process.pid))

/** This process: its number and, as numbers are reused, its start. */
const self = start === undefined ? String(process.pid) : `${process.pid}.${start}`

/** Whether a process of this machine has certainly ended. Older versions wrote its number alone. */
const hasEnded = (mark: string): boolean => {
  const [, pid, started] = /^([1-9]\d*)(?:\.(\d+))?$/.exec(mark) ?? []
  if (pid === undefined) return false
  try {
    process.kill(Number(pid), 0)
  } catch (cause) {
    return systemCode(cause) === "ESRCH"
  }
  const startedNow = started === undefined ? undefined : startOf(pid)
  return startedNow !== undefined && startedNow !== started
}

/** Not a secret: a store opens without loading any cryptography. */
const random = Effect.map(Random.next, (number) => number.toString(36).slice(2))

/** A new lease of this process, unlike any other. */
export const makeLease: Effect.Effect<string> = Effect.zipWith(
  random,
  random,
  (one, two) => `${one}${two} ${self} ${machine}`
)

/** Whether the process that holds a lease has certainly ended. */
export const isOrphaned = (lease: string): boolean => {
  const [, mark = "", ...where] = lease.split(" ")
  return where.join(" ") === machine && hasEnded(mark)
}

const machineMark = (Hash.string(machine) >>> 0).toString(16)

/** The start of the name of a temporary file of this process. */
export const processMark = `${machineMark}-${self}-`

/** Whether the process that made a file has certainly ended, given the name of the file from its mark on. */
export const isFromDeadProcess = (name: string): boolean => {
  const [where, mark = ""] = name.split("-")
  return where === machineMark && hasEnded(mark)
}

/** Whether a process of this machine made a file, one whose end would be noticed. */
export const isFromHere = (name: string): boolean => name.startsWith(`${machineMark}-`)
