/** Files that commands share: any command reads them, one at a time writes them. */
import { takeLock } from "@roster/workflows/RunFiles"
import { Effect, Predicate, Schedule } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"
import { type UsageError, usageError } from "../errors/UsageError.ts"

/** SQLITE_NOTADB. */
const notADatabase = 26

const codeOf = (cause: unknown): unknown => (Predicate.hasProperty(cause, "errcode") ? cause.errcode : undefined)

const lockProblem =
  (lock: string, message: string) =>
  (cause: unknown): UsageError =>
    codeOf(cause) === notADatabase
      ? usageError(message, `If no older roster is running, it has left ${lock}: delete it.`)
      : fileProblem(lock, "written")(cause)

/** Looks again for five seconds, far longer than any command holds the lock of a small file. */
const whileWaiting = Schedule.spaced("20 millis").pipe(Schedule.while(({ attempt }) => attempt < 250))

/** Runs an effect under the lock of a file, which is a file beside it; while another command has it, it waits. */
export const withLock = <A, E, R>(file: string, write: Effect.Effect<A, E, R>) => {
  const lock = `${file}.lock`
  const said = `Another command is writing ${file}.`
  const taken = usageError(said, "Try again when it has ended.")
  return Effect.acquireUseRelease(
    Effect.try({ try: () => takeLock(lock), catch: lockProblem(lock, said) }).pipe(
      Effect.filterOrFail(Predicate.isNotUndefined, () => taken),
      Effect.retry({ while: (error) => error === taken, schedule: whileWaiting })
    ),
    () => write,
    (giveBack) => Effect.sync(giveBack)
  )
}
