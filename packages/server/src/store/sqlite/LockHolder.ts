/**
 * Who holds the lock of a database file. SQLite does not say; Linux lists the locks of all processes that it can see.
 */
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs"

/** In the -shm file: the lock of the one who writes, and those of checkpoints and recovery. Readers have those above. */
const lastWriterByte = 122

const lock = /POSIX\s+\S+\s+WRITE\s+(?<pid>\d+)\s+[^:\s]+:[^:\s]+:(?<inode>\d+)\s+(?<start>\d+)/

const inodeOf = (path: string): string | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false })?.ino.toString()

/** Processes of other name spaces and files of other disks have numbers of their own: so its open files are looked at. */
const hasOpen = (pid: string, path: string): boolean => {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((name) => {
    try {
      return readlinkSync(`${folder}/${name}`) === path
    } catch {
      return false
    }
  })
}

/** Node calls the process after its main thread. */
const nameOf = (pid: string): string =>
  readFileSync(`/proc/${pid}/comm`, "utf8")
    .trim()
    .replace(/-MainThread$/, "")

const find = (path: string): string | undefined => {
  const file = realpathSync(path)
  const [main, shared] = [inodeOf(file), inodeOf(`${file}-shm`)]
  for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
    // A line with an arrow is of somebody who waits.
    const { inode, pid = "", start } = (line.includes("->") ? null : lock.exec(line))?.groups ?? {}
    if (inode === undefined || pid === String(process.pid)) continue
    const isWriter = inode === main || (inode === shared && Number(start) <= lastWriterByte)
    if (isWriter && hasOpen(pid, file)) return `process ${pid} (${nameOf(pid)})`
  }
  return undefined
}

/**
 * The process that holds the lock of a file, by number and name: `process 4242 (node)`. Where that cannot be found out, as on
 * other systems, it is `another process`.
 */
export const lockHolder = (path: string): string => {
  try {
    return find(path) ?? "another process"
  } catch {
    return "another process"
  }
}
