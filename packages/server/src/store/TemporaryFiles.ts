/** Temporary files that only this user can read, and the removal of those that a killed process left. */
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { readdirSync, rmSync, statSync } from "node:fs"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { isFromDeadProcess, isFromHere, processMark } from "./ProcessMark.ts"
import { processMillis } from "./StoreClock.ts"
import { removeDatabase } from "./sqlite/AtomicFile.ts"

const prefix = "roster-"

/** The temporary folder cannot be written or read, or is full. */
export class TemporaryFileFailed extends Schema.TaggedError<TemporaryFileFailed>()("TemporaryFileFailed", {
  cause: Schema.Defect()
}) {}

/** Runs something on a temporary file. */
export const onTemporaryFile = <A>(run: () => Promise<A>): Effect.Effect<A, TemporaryFileFailed> =>
  Effect.tryPromise({ try: run, catch: (cause) => new TemporaryFileFailed({ cause }) })

const removeFolder = (folder: string) =>
  Effect.ignore(onTemporaryFile(() => rm(folder, { recursive: true, force: true })))

/** A new folder that only this user can read, which is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  onTemporaryFile(() => mkdtemp(join(tmpdir(), prefix + processMark))),
  removeFolder
)

/** A new file that only this user can read, which is removed with the scope. */
export const openTemporaryFile = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const path = join(folder, "file")
  const file = yield* Effect.acquireRelease(
    onTemporaryFile(() => open(path, "wx+", 0o600)),
    (file) => Effect.ignore(onTemporaryFile(() => file.close()))
  )
  /** Removes its name. The open file stays usable, except on Windows, where the name stays too. */
  return { path, file, unlink: removeFolder(folder) }
})

/** In milliseconds, for files of a process of which nothing is known, such as one in another container. */
const maximumAge = 24 * 60 * 60 * 1000

/** The prefix, which was longer before, a mark and random characters. What has none is not a folder of the service. */
const folderName = /^roster-(?:import-)?([\da-f]+-[\d.]+-\w+)$/

/**
 * Removes this user's leftover files: those of ended processes at once, those of unknown ones when nothing was written
 * to them for long. Age is no proof for a process that still runs.
 */
export const removeTemporaryFiles = Effect.map(processMillis, (now) => {
  for (const entry of readdirSync(tmpdir(), { withFileTypes: true })) {
    const [, mark] = folderName.exec(entry.name) ?? []
    if (!entry.isDirectory() || mark === undefined) continue
    const folder = join(tmpdir(), entry.name)
    try {
      const found = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => statSync(path))
      const isOurs = found.every(({ uid }) => uid === process.getuid?.())
      const isOld = found.every(({ mtimeMs }) => mtimeMs < now - maximumAge)
      if (isOurs && (isFromDeadProcess(mark) || (isOld && !isFromHere(mark)))) rmSync(folder, { recursive: true })
    } catch {
      // Another user's, or removed meanwhile.
    }
  }
}).pipe(Effect.ignoreCause)

const stagedSuffixes = [".partial", ".restoring"] as const

/** The name of a database file beside another one, which goes with the scope. */
export const stagedBeside = Effect.fnUntraced(function* (path: string, suffix: (typeof stagedSuffixes)[number]) {
  yield* removeLeftovers(path)
  const staged = `${path}.${processMark}${randomUUID()}${suffix}`
  yield* Effect.addFinalizer(() => removeDatabase(staged))
  return staged
})

/** Removes the staged files of killed processes beside a file. */
const removeLeftovers = (path: string) =>
  Effect.sync(() => {
    const begin = `${basename(path)}.`
    for (const name of readdirSync(dirname(path))) {
      if (!name.startsWith(begin) || !stagedSuffixes.some((suffix) => name.includes(suffix))) continue
      if (isFromDeadProcess(name.slice(begin.length))) rmSync(join(dirname(path), name), { force: true })
    }
  }).pipe(Effect.ignoreCause)
