/** What `roster doctor` finds on this machine, whatever service or store is used. */
import type { PostgresFinding as Finding } from "@roster/server/PostgresCheck"
import { RunLog } from "@roster/workflows"
import { Effect, FileSystem, Option, Path } from "effect"
import { statfs } from "node:fs/promises"
import { userFolderPath } from "../../files/UserFolder.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"

const mebibyte = 1024 * 1024

/** With less, an import or a backup may end in the middle. */
const leastFree = 200 * mebibyte

/** The room on the disk of a folder, or of the nearest one above that exists. */
export const diskSpace = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  let nearest = path.resolve(folder)
  while (!(yield* Effect.orElseSucceed(fs.exists(nearest), () => false)) && path.dirname(nearest) !== nearest) {
    nearest = path.dirname(nearest)
  }
  const room = yield* Effect.option(Effect.tryPromise(() => statfs(nearest)))
  if (Option.isNone(room)) return []
  const free = room.value.bavail * room.value.bsize
  const detail = `${Math.floor(free / mebibyte)} MiB are free at ${nearest}`
  const finding: Finding =
    free < leastFree
      ? { check: "disk", result: "warning", detail: `${detail}: make room before an import or a backup` }
      : { check: "disk", result: "ok", detail }
  return [finding]
})

/** Folders of this user that others can look into or change. */
export const folders = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const findings: Array<Finding> = []
  if (process.platform === "win32") return findings
  for (const kind of ["data", "state"] as const) {
    const folder = yield* userFolderPath(kind)
    const info = yield* Effect.option(fs.stat(folder))
    if (Option.isSome(info) && (info.value.mode & 0o077) !== 0) {
      findings.push({
        check: "folders",
        result: "warning",
        detail: `other users can reach ${folder}, which holds contacts: run chmod 700 ${folder}`
      })
    }
  }
  return findings
})

/** Runs that were stopped, or are still at work. */
export const unfinishedRuns = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // A look makes no folder.
  if (!(yield* fs.exists(path.join(yield* userFolderPath("state"), "runs")))) return []
  const runs = yield* Effect.provide(
    RunLog.use(({ list }) => list),
    RunLogLayer.layerOfAll
  )
  return (
    runs
      // Earlier versions recorded rotations of credentials.
      .filter(({ header, isEnded }) => !isEnded && header.command !== "rotate")
      .map(({ header: { command, id } }): Finding => ({
        check: "runs",
        result: "warning",
        detail: `${command} ${id} has not ended: the same command resumes it, or roster contacts undo ${id} takes it back`
      }))
  )
}).pipe(
  Effect.catch((error) =>
    Effect.succeed<ReadonlyArray<Finding>>([{ check: "runs", result: "failed", detail: error.message }])
  )
)
