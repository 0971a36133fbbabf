/** Marks of this process in file names and leases, by which the leftovers of a killed process are recognised. */
import { Hash } from "effect"
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

/** Whether the process has certainly ended. Its number could belong to another process by now. */
const hasEnded = (pid: string): boolean => {
  if (!/^[1-9]\d*$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (cause) {
    return systemCode(cause) === "ESRCH"
  }
}

/** Not a secret: a store opens without loading any cryptography. */
const random = (): string => Math.random().toString(36).slice(2)

/** A new lease of this process, unlike any other. */
export const makeLease = (): string => `${random()}${random()} ${process.pid} ${machine}`

/** Whether the process that holds a lease has certainly ended. */
export const isOrphaned = (lease: string): boolean => {
  const [, pid = "", ...where] = lease.split(" ")
  return where.join(" ") === machine && hasEnded(pid)
}

const machineMark = (Hash.string(machine) >>> 0).toString(16)

/** The start of the name of a temporary file of this process. */
export const processMark = `${machineMark}-${process.pid}-`

/** Whether the process that made a file has certainly ended, given the name of the file from its mark on. */
export const isFromDeadProcess = (name: string): boolean => {
  const [mark, pid = ""] = name.split("-")
  return mark === machineMark && hasEnded(pid)
}

/** Whether a process of this machine made a file, one whose end would be noticed. */
export const isFromHere = (name: string): boolean => name.startsWith(`${machineMark}-`)
