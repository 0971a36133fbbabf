/** Which processes use a database, as far as Linux tells this user. */
import { databaseSuffixes } from "@roster/domain/DatabaseFiles"
import { readdirSync, readFileSync, statSync } from "node:fs"

/** Processes can end meanwhile, those of other users are hidden, and other systems have no /proc. */
const attempted = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}

const identityOf = (path: string): string | undefined =>
  attempted(() => {
    const { dev, ino } = statSync(path)
    return `${dev} ${ino}`
  }, undefined)

const filesOf = (path: string): ReadonlyArray<string> =>
  databaseSuffixes.flatMap((suffix) => identityOf(path + suffix) ?? [])

const hasOpen = (pid: string, files: ReadonlyArray<string>): boolean =>
  attempted(() => readdirSync(`/proc/${pid}/fd`), []).some((fd) =>
    files.includes(identityOf(`/proc/${pid}/fd/${fd}`) ?? "")
  )

/** Node names the process after its main thread. */
const nameOf = (pid: string): string => {
  const name = attempted(() => readFileSync(`/proc/${pid}/comm`, "utf8"), "ended").trim()
  return `process ${pid} (${name.replace(/-MainThread$/, "")})`
}

/** The processes that have a database open, such as `process 4242 (node)`. */
export const usersOf = (path: string): ReadonlyArray<string> => {
  const files = filesOf(path)
  return attempted(() => readdirSync("/proc"), [])
    .filter((pid) => /^\d+$/.test(pid) && hasOpen(pid, files))
    .map(nameOf)
}

/** Those processes in a sentence, also where nothing tells them. */
export const userWords = (path: string): string => usersOf(path).join(" and ") || "another process"
