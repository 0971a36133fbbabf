/**
 * A file of lines that are only ever added. A line is in the file when its `add` ends, so that it survives the process; the
 * disk is made to take the lines meanwhile, many at once, so that nobody waits for a disk who has something to do.
 */
import { Effect, type Scope } from "effect"
import { appendFileSync, closeSync, fdatasync, ftruncateSync, openSync } from "node:fs"
import { fileProblem } from "../errors/FileProblem.ts"
import type { UsageError } from "../errors/UsageError.ts"

export interface DurableLog {
  /** What stands behind so many bytes of the file is a line that is not whole, and goes when the next one comes. */
  readonly keep: (bytes: number) => void
  /** Begins the file anew. */
  readonly begin: Effect.Effect<void, UsageError>
  /** Adds a line, and waits where too many that have to survive the machine are not on its disk yet. */
  readonly add: (line: string, options: { readonly isForced: boolean }) => Effect.Effect<void, UsageError>
  /** Waits until the disk has all lines. */
  readonly force: Effect.Effect<void, UsageError>
  /** Closes the file until there is another line. */
  readonly close: Effect.Effect<void>
}

/** How many lines may wait for the disk: what is lost, and done again, when the power fails. */
const mostUnforced = 64

/** How long lines wait for others that the disk takes with them. */
const longestMillis = 50

/**
 * The lines of a file, which is opened when there is one. What fails is the last thing that happens to it: behind a line that
 * is not whole there is no place for others.
 */
export const makeDurableLog = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<DurableLog, never, Scope.Scope> {
  let descriptor: number | undefined
  let broken: UsageError | undefined
  let whole: number | undefined
  /** How many lines have to survive the machine, and how many of them the disk has. */
  let written = 0
  let forced = 0
  let isForcing = false
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

  /** The disk takes all that is written so far; what comes meanwhile is for the next time. */
  const forceNow = (): void => {
    clearTimeout(planned)
    planned = undefined
    if (isForcing || descriptor === undefined) return
    const upTo = written
    isForcing = true
    fdatasync(descriptor, (error) => {
      isForcing = false
      if (error === null) forced = upTo
      else breaks(error)
      const resumed = waiting
      waiting = []
      for (const resume of resumed) resume()
      if (error === null) forceSoon()
    })
  }

  const forceSoon = (): void => {
    if (written > forced && !isForcing) planned ??= setTimeout(forceNow, longestMillis)
  }

  const look = Effect.callback<void>((resume) => void waiting.push(() => resume(Effect.void)))

  const until = (count: number): Effect.Effect<void, UsageError> =>
    Effect.suspend(() => {
      if (broken !== undefined) return Effect.fail(broken)
      if (forced >= count) return Effect.void
      forceNow()
      return Effect.flatMap(look, () => until(count))
    })

  const force = Effect.suspend(() => until(written))

  // Nothing is forced through a descriptor that is closed: it may be that of another file already.
  const close: Effect.Effect<void> = Effect.andThen(
    Effect.ignore(force),
    Effect.suspend(() => {
      if (isForcing) return Effect.flatMap(look, () => close)
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
    add: (line, { isForced }) =>
      Effect.andThen(
        attempt(() => {
          appendFileSync(open("a"), `${line}\n`)
          if (isForced) written++
          forceSoon()
        }),
        Effect.suspend(() => until(written - mostUnforced))
      ),
    force,
    close
  }
})
