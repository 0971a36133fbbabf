/**
 * Leases name their process: that of one which is known to have ended counts for nothing. (docs/decisions/jobs.md)
 */
import { Hash, Predicate } from "effect"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

/** Where the number of a process means something. Containers, and machines on one database, can share a name. */
export const processes = ((): string => {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return hostname()
  }
})()

/** Unlike any other, and no secret: a store is opened without loading any cryptography. */
const mark = (): string => Math.random().toString(36).slice(2)

/** A lease of this process, unlike any other. */
export const makeLease = (): string => `${mark()}${mark()} ${process.pid} ${processes}`

/** Whether the process of a number has ended for certain: the number could belong to another one by now. */
export const hasEnded = (number: string): boolean => {
  if (!/^[1-9]\d*$/.test(number)) return false
  try {
    process.kill(Number(number), 0)
    return false
  } catch (cause) {
    return Predicate.hasProperty(cause, "code") && cause.code === "ESRCH"
  }
}

/** Whether the process of a lease has ended for certain. */
export const isDead = (lease: string): boolean => {
  const [, number = "", ...where] = lease.split(" ")
  return where.join(" ") === processes && hasEnded(number)
}

const place = (Hash.string(processes) >>> 0).toString(16)

/** What the name of a file begins with that this process leaves behind if it is killed. */
export const processMark = `${place}-${process.pid}-`

/** Whether the process of a name has ended for certain, given the name from its mark on. */
export const isFromDeadProcess = (name: string): boolean => {
  const [of, number = ""] = name.split("-")
  return of === place && hasEnded(number)
}
