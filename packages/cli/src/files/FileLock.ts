/** Files that commands share: any command reads them, one at a time writes them. */
import { Effect, FileSystem, Predicate, Schedule } from "effect"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { fileProblem } from "../errors/FileProblem.ts"
import { usageError } from "../errors/UsageError.ts"

/** The text of a file; `None` if it does not exist. */
export const readOptional = (fs: FileSystem.FileSystem, file: string) =>
  fs.readFileString(file).pipe(
    Effect.asSome,
    Effect.catchIf(
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeedNone
    ),
    Effect.mapError(fileProblem(file, "read"))
  )

/** Retries for five seconds, far longer than any command holds the lock of a small file. */
const lockSchedule = Schedule.spaced("20 millis").pipe(Schedule.while(({ attempt }) => attempt < 250))

/** The boot of this machine and the scope of process ids, where the system tells them. */
const bootAndScope = (): readonly [string, string] => {
  try {
    return [readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), readlinkSync("/proc/self/ns/pid")]
  } catch {
    return ["", ""]
  }
}

/** What a lock holds: the process that took it. Machines can share a home folder, and containers a machine. */
const processMark = (): string => [process.pid, hostname(), ...bootAndScope()].join(" ")

/**
 * Whether the process that took a lock has certainly ended: on this machine, before its last start or in the same scope.
 * Nothing is known of other machines and containers.
 */
const isLeftBehind = (mark: string): boolean => {
  const [pid = "", host, boot, scope] = mark.split(" ")
  const [thisBoot, thisScope] = bootAndScope()
  if (!/^[1-9]\d*$/.test(pid) || host !== hostname() || boot === undefined) return false
  return boot !== thisBoot || (scope === thisScope && hasEnded(Number(pid)))
}

/** Runs an effect under the lock of a file: a file beside it with the process that holds it, removed if that has ended. */
export const withLock = Effect.fnUntraced(function* <A, E, R>(
  file: string,
  write: Effect.Effect<A, E, R>,
  taken: { readonly schedule: Schedule.Schedule<unknown>; readonly message: string } = {
    schedule: lockSchedule,
    message: `Another command is writing ${file}.`
  }
) {
  const fs = yield* FileSystem.FileSystem
  const lock = `${file}.lock`
  const take = fs.writeFileString(lock, processMark(), { flag: "wx", mode: 0o600 })
  const removeStale = Effect.gen(function* () {
    if (isLeftBehind(yield* fs.readFileString(lock))) yield* fs.remove(lock)
  })
  return yield* Effect.acquireUseRelease(
    take.pipe(
      Effect.tapError(() => Effect.ignore(removeStale)),
      Effect.retry({ while: (error) => error.reason._tag === "AlreadyExists", schedule: taken.schedule }),
      Effect.mapError((error) =>
        error.reason._tag === "AlreadyExists"
          ? usageError(
              taken.message,
              `Try again; if no other command is running, on any machine or in any container, delete ${lock}`
            )
          : fileProblem(lock, "written")(error)
      )
    ),
    () => write,
    () => Effect.ignore(fs.remove(lock))
  )
})

/** A process of another user answers with EPERM: it is running. */
const hasEnded = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch (cause) {
    return Predicate.hasProperty(cause, "code") && cause.code === "ESRCH"
  }
}
