import { Clock, Effect, Schema } from "effect"
import { readdirSync, rmSync, statSync } from "node:fs"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isFromDeadProcess, processMark } from "./ProcessMark.ts"

const prefix = "roster-import-"

/** The temporary folder cannot be written or read, or is full. */
export class TemporaryFileFailed extends Schema.TaggedError<TemporaryFileFailed>()("TemporaryFileFailed", {
  cause: Schema.Defect()
}) {}

/** Runs something on a temporary file. */
export const onTemporaryFile = <A>(run: () => Promise<A>): Effect.Effect<A, TemporaryFileFailed> =>
  Effect.tryPromise({ try: run, catch: (cause) => new TemporaryFileFailed({ cause }) })

/** A new file that only this user can read, which is removed with the scope. */
export const openTemporaryFile = Effect.acquireRelease(
  onTemporaryFile(async () => {
    const folder = await mkdtemp(join(tmpdir(), prefix + processMark))
    /** Removes its name. The open file stays usable, except on Windows, where it fails. */
    const unlink = () => rm(folder, { recursive: true, force: true })
    try {
      const path = join(folder, "file")
      return { path, file: await open(path, "wx+", 0o600), unlink }
    } catch (cause) {
      await unlink()
      throw cause
    }
  }),
  ({ file, unlink }) => Effect.ignore(onTemporaryFile(() => file.close().finally(unlink)))
)

/** In milliseconds, far above the five minutes that a Node server gives an upload. */
const maximumAge = 60 * 60 * 1000

/** Removes this user's leftover files: those of ended processes at once, those of unknown origin when old. */
export const removeTemporaryFiles = Effect.map(Clock.currentTimeMillis, (now) => {
  for (const entry of readdirSync(tmpdir(), { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue
    const folder = join(tmpdir(), entry.name)
    try {
      const found = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => statSync(path))
      const isOurs = found.every(({ uid }) => uid === process.getuid?.())
      const isOld = found.every(({ mtimeMs }) => mtimeMs < now - maximumAge)
      if (isOurs && (isOld || isFromDeadProcess(entry.name.slice(prefix.length)))) rmSync(folder, { recursive: true })
    } catch {
      // Another user's, or removed meanwhile.
    }
  }
}).pipe(Effect.ignoreCause)
