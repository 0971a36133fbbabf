/**
 * Leases name their process: that of one which is known to have ended counts for nothing. (docs/decisions/jobs.md)
 */
import { Predicate } from "effect"
import { createHash } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

/**
 * Where the number of a process means something. Containers, and machines on one database, can share a name.
 *
 * @internal
 */
export const processes = ((): string => {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return hostname()
  }
})()

/**
 * A lease of this process, unlike any other.
 *
 * @internal
 */
export const makeLease = (): string => `${crypto.randomUUID()} ${process.pid} ${processes}`

/**
 * Whether the process of a number has ended for certain: the number could belong to another one by now.
 *
 * @internal
 */
export const hasEnded = (number: string): boolean => {
  if (!/^[1-9]\d*$/.test(number)) return false
  try {
    process.kill(Number(number), 0)
    return false
  } catch (cause) {
    return Predicate.hasProperty(cause, "code") && cause.code === "ESRCH"
  }
}

/**
 * Whether the process of a lease has ended for certain.
 *
 * @internal
 */
export const isDead = (lease: string): boolean => {
  const [, number = "", ...where] = lease.split(" ")
  return where.join(" ") === processes && hasEnded(number)
}

const place = createHash("sha256").update(processes).digest("hex").slice(0, 8)

/**
 * What the name of a file begins with that this process leaves behind if it is killed.
 *
 * @internal
 */
export const processMark = `${place}-${process.pid}-`

/**
 * Whether the process of a name has ended for certain, given the name from its mark on.
 *
 * @internal
 */
export const isOfTheDead = (name: string): boolean => {
  const [of, number = ""] = name.split("-")
  return of === place && hasEnded(number)
}
