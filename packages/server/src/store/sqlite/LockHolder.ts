import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs"

/** Bytes of the -shm file up to this one are locked by writers, checkpoints and recovery, those above by readers. */
const lastWriterByte = 122

const lock = /POSIX\s+\S+\s+WRITE\s+(?<pid>\d+)\s+[^:\s]+:[^:\s]+:(?<inode>\d+)\s+(?<start>\d+)/

const inodeOf = (path: string): string | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false })?.ino.toString()

/** Checks the open files, since other namespaces and disks reuse the numbers of processes and inodes. */
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

/** Node names the process after its main thread. */
const nameOf = (pid: string): string =>
  readFileSync(`/proc/${pid}/comm`, "utf8")
    .trim()
    .replace(/-MainThread$/, "")

const find = (path: string): string | undefined => {
  const file = realpathSync(path)
  const [main, shared] = [inodeOf(file), inodeOf(`${file}-shm`)]
  for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
    // A line with an arrow is a waiting process.
    const { inode, pid = "", start } = (line.includes("->") ? null : lock.exec(line))?.groups ?? {}
    if (inode === undefined || pid === String(process.pid)) continue
    const isWriter = inode === main || (inode === shared && Number(start) <= lastWriterByte)
    if (isWriter && hasOpen(pid, file)) return `process ${pid} (${nameOf(pid)})`
  }
  return undefined
}

/** The process that holds a lock, such as `process 4242 (node)`, by Linux's list of locks, or `another process`. */
export const lockHolder = (path: string): string => {
  try {
    return find(path) ?? "another process"
  } catch {
    return "another process"
  }
}
