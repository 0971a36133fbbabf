/** An append-only log: a line survives the process at once, and a power failure after a fdatasync in the background. */
import { Effect, type Scope, Semaphore } from "effect"
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

/** Maximum time that lines wait for a common flush. */
const maxDelay = "50 millis"

/** Makes the log of a file, opened by its first line. A failure is final: no line may follow an incomplete one. */
export const makeDurableLog = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<DurableLog, never, Scope.Scope> {
  const scope = yield* Effect.scope
  /** One flush at a time; the file is not closed meanwhile, as another one may get the number of its descriptor. */
  const flushing = yield* Semaphore.make(1)
  let descriptor: number | undefined
  let broken: UsageError | undefined
  let whole: number | undefined
  /** Number of durable lines in the file, and on the disk. */
  let written = 0
  let synced = 0
  let isPlanned = false

  const open = (flag: "a" | "w"): number => {
    if (descriptor !== undefined) return descriptor
    descriptor = openSync(file, flag, 0o600)
    if (flag === "a" && whole !== undefined) ftruncateSync(descriptor, whole)
    whole = undefined
    return descriptor
  }

  const failed = fileProblem(file, "written")

  const unlessBroken = <A>(work: Effect.Effect<A, UsageError>): Effect.Effect<A, UsageError> =>
    Effect.suspend(() =>
      broken === undefined ? Effect.mapError(work, (error) => (broken ??= error)) : Effect.fail(broken)
    )

  const attempt = (write: () => void) => unlessBroken(Effect.try({ try: write, catch: failed }))

  /** Flushes the lines written so far. Later ones are left to the next flush. */
  const flush = Effect.callback<void, UsageError>((resume) => {
    const upTo = written
    fdatasync(open("a"), (error) => {
      if (error === null) synced = upTo
      resume(error === null ? Effect.void : Effect.fail(failed(error)))
    })
  }).pipe(Effect.uninterruptible, unlessBroken)

  /** Waits until so many durable lines are on the disk. */
  const until = (count: number): Effect.Effect<void, UsageError> => {
    const isMissing = Effect.sync(() => synced < count)
    const flushed = flushing.withPermit(Effect.when(flush, isMissing))
    return unlessBroken(Effect.asVoid(Effect.when(flushed, isMissing)))
  }

  const fsync = Effect.suspend(() => until(written))

  const flushSoon = Effect.suspend(() => {
    if (isPlanned || written === synced) return Effect.void
    isPlanned = true
    const planned = Effect.suspend(() => {
      isPlanned = false
      return Effect.ignore(fsync)
    })
    return Effect.asVoid(Effect.forkIn(Effect.delay(planned, maxDelay), scope))
  })

  const close = Effect.andThen(
    Effect.ignore(fsync),
    flushing.withPermit(
      Effect.sync(() => {
        if (descriptor !== undefined) closeSync(descriptor)
        descriptor = undefined
      })
    )
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
      attempt(() => {
        appendFileSync(open("a"), `${line}\n`)
        if (isDurable) written++
      }).pipe(Effect.andThen(flushSoon), Effect.andThen(Effect.suspend(() => until(written - maxUnsynced)))),
    fsync,
    close
  }
})
