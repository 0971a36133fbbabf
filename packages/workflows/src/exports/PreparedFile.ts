/** Files that appear only when they are complete and flushed to disk. */
import { Effect, FileSystem, Path, Stream } from "effect"

/** Options of `prepareFile`. */
export interface PrepareOptions {
  /** The number of bytes to reserve on disk before there is content (default: none). */
  readonly reserve?: number | undefined
  /** The temporary file (default: a random name beside the target). A fixed one needs a lock, and is overwritten. */
  readonly temporary?: string | undefined
}

/** Makes the names in a folder durable, where the system can: Windows cannot. */
export const syncFolder = (fs: FileSystem.FileSystem, folder: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(folder), ({ sync }) => sync)))

/**
 * Prepares a file that appears only when it is complete. The bytes go to a temporary file, readable by its owner alone,
 * which is flushed and renamed, and then its folder is flushed; the scope removes what is left of it. Gives the function
 * that writes the content and returns the number of bytes; its second argument is a last check before the file is renamed.
 *
 * ```ts
 * import { prepareFile } from "@roster/workflows"
 * import { Effect, FileSystem, Stream } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
 *   const write = yield* prepareFile(`${folder}/report.json`, { reserve: 2 })
 *   return yield* write(Stream.make(new TextEncoder().encode("{}")))
 * })
 * ```
 */
export const prepareFile = Effect.fnUntraced(function* (target: string, options: PrepareOptions = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.dirname(target)
  const random = path.join(folder, `.${path.basename(target)}.${crypto.randomUUID()}.tmp`)
  const { reserve = 0, temporary = random } = options
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary, { force: true })))
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(temporary, { flag: temporary === random ? "wx" : "w", mode: 0o600 })
      if (reserve === 0) return
      yield* file.writeAll(new Uint8Array(reserve))
      yield* file.sync
    })
  )
  return Effect.fnUntraced(function* <E, R, E2 = never>(
    content: Stream.Stream<Uint8Array, E, R>,
    check: Effect.Effect<void, E2> = Effect.void
  ) {
    let written = 0
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(temporary, { flag: "r+" })
        yield* Stream.runForEach(content, (part) => {
          written += part.length
          return file.writeAll(part)
        })
        yield* file.truncate(written)
        yield* file.sync
      })
    )
    yield* check
    yield* fs.rename(temporary, target)
    yield* syncFolder(fs, folder)
    return written
  })
})
