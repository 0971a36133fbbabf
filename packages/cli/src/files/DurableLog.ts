/** An append-only log: a line survives the process at once, and a power failure after a fdatasync in the background. */
import { Effect, type Scope } from "effect"
import { appendFileSync, closeSync, fdatasync, ftruncateSync, openSync } from "node:fs"
import { fileProblem } from "../errors/FileProblem.ts"
import type { UsageError } from "../errors/UsageError.ts"

export interface DurableLog {
  /** Declares everything after `bytes` an incomplete line, which the next `add` removes. */
  readonly keep: (bytes: number) => void
  /** Empties the file. */
  readonly begin: Effect.Effect<void, UsageError>
  /** Appends a line. Waits if too many durable lines, which have to survive a power failure, are not on the disk yet. */
  readonly add: (line: string, options: { readonly isDurable: boolean }) => Effect.Effect<void, UsageError>
  /** Waits until all durable lines are on the disk. */
  readonly fsync: Effect.Effect<void, UsageError>
  /** Closes the file until the next line. */
  readonly close: Effect.Effect<void>
}

/** Maximum number of durable lines not yet on the disk. A power failure loses them, and their work is repeated. */
const maxUnsynced = 64

/** Maximum time in milliseconds that lines wait for a common flush. */
const maxDelayMillis = 50

/** Makes the log of a file, opened by its first line. A failure is final: no line may follow an incomplete one. */
export const makeDurableLog = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<DurableLog, never, Scope.Scope> {
  let descriptor: number | undefined
  let broken: UsageError | undefined
  let whole: number | undefined
  /** Number of durable lines in the file, and on the disk. */
  let written = 0
  let synced = 0
  let isSyncing = false
  let planned: ReturnType<typeof setTimeout> | undefined
  let waiting: Array<() => void> = []

  const breaks = (cause: unknown): UsageError => (broken ??= fileProblem(file, "written")(cause))

  const open = (flag: "a" | "w"): number => {
    if (descriptor !== undefined) return descriptor
    descriptor = openSync(file, flag, 0o600)
    if (flag === "a" && whole !== undefined) ftruncateSync(descriptor, whole)
    whole = undefined
    return descriptor
  }

  const attempt = (write: () => void): Effect.Effect<void, UsageError> =>
    Effect.suspend(() => {
      if (broken !== undefined) return Effect.fail(broken)
      try {
        write()
        return Effect.void
      } catch (cause) {
        return Effect.fail(breaks(cause))
      }
    })

  /** Flushes the lines written so far. Later lines are left to the next flush. */
  const syncNow = (): void => {
    clearTimeout(planned)
    planned = undefined
    if (isSyncing || descriptor === undefined) return
    const upTo = written
    isSyncing = true
    fdatasync(descriptor, (error) => {
      isSyncing = false
      if (error === null) synced = upTo
      else breaks(error)
      const resumed = waiting
      waiting = []
      for (const resume of resumed) resume()
      if (error === null) syncSoon()
    })
  }

  const syncSoon = (): void => {
    if (written > synced && !isSyncing) planned ??= setTimeout(syncNow, maxDelayMillis)
  }

  const look = Effect.callback<void>((resume) => void waiting.push(() => resume(Effect.void)))

  const until = (count: number): Effect.Effect<void, UsageError> =>
    Effect.suspend(() => {
      if (broken !== undefined) return Effect.fail(broken)
      if (synced >= count) return Effect.void
      syncNow()
      return Effect.flatMap(look, () => until(count))
    })

  const fsync = Effect.suspend(() => until(written))

  // A descriptor stays open until its flush ends: another file may reuse its number.
  const close: Effect.Effect<void> = Effect.andThen(
    Effect.ignore(fsync),
    Effect.suspend(() => {
      if (isSyncing) return Effect.flatMap(look, () => close)
      clearTimeout(planned)
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
      return Effect.void
    })
  )
  yield* Effect.addFinalizer(() => close)

  return {
    keep: (bytes) => {
      whole = bytes
    },
    begin: Effect.andThen(
      close,
      attempt(() => void open("w"))
    ),
    add: (line, { isDurable }) =>
      Effect.andThen(
        attempt(() => {
          appendFileSync(open("a"), `${line}\n`)
          if (isDurable) written++
          syncSoon()
        }),
        Effect.suspend(() => until(written - maxUnsynced))
      ),
    fsync,
    close
  }
})
