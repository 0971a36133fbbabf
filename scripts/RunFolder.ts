/**
 * The temporary folder of a test run. What the run starts puts its temporary files there, so that they go with the run; what
 * a killed run has left goes with the next one.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isFromDeadProcess, processMark } from "../packages/server/src/store/ProcessMark.ts"

const prefix = "roster-run-"

/** The running processes that work in the folder, or were started with an environment that names it. */
export const startedIn = (folder: string): ReadonlyArray<number> => {
  // Only Linux tells.
  if (process.platform !== "linux") return []
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return [readlinkSync(`/proc/${name}/cwd`), readFileSync(`/proc/${name}/environ`, "utf8")]
          .join()
          .includes(folder)
      } catch {
        // It has ended, or belongs to somebody else.
        return false
      }
    })
    .map(Number)
}

const remove = (folder: string): void => {
  for (const pid of startedIn(folder)) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It has ended meanwhile.
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}

/** Removes the folders of runs that have ended, and ends the processes that they have left. */
const sweep = (): void => {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(prefix) && isFromDeadProcess(name.slice(prefix.length))) remove(join(tmpdir(), name))
  }
}

/** Makes the folder that this process, and all that it starts, has for temporary files until it ends. */
export const useRunFolder = (): void => {
  sweep()
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${processMark}`))
  // PostgreSQL runs as another user where root starts it, who has to reach its files.
  chmodSync(folder, 0o711)
  for (const name of ["TMPDIR", "TMP", "TEMP"]) process.env[name] = folder
  process.once("exit", () => remove(folder))
}
