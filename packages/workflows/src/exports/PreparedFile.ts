/** Files that appear only when they are complete and flushed to disk. */
import { randomId, KnownFields } from "@roster/domain/internal"
import * as DatabaseFiles from "@roster/domain/DatabaseFiles"
import { Effect, Exit, FileSystem, Option, Path, PlatformError, Scope, Stream } from "effect"

/** Options of `prepareFile`. */
export interface PrepareOptions {
  /** The number of bytes to reserve on disk before there is content (default: none). */
  readonly reserve?: number | undefined
  /** The temporary file (default: a random name beside the target). A fixed one needs a lock, and replaces what is there. */
  readonly temporary?: string | undefined
}

const optionFields = KnownFields.fieldsOf<PrepareOptions>("this call", { reserve: true, temporary: true })

/** Makes the names in a folder durable, where the system can: Windows cannot. */
export const syncFolder = (fs: FileSystem.FileSystem, folder: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(folder), ({ sync }) => sync)))

/**
 * Whether a path is that of a SQLite database, or of a file that belongs to one, even one that is not there yet. Such a
 * file is never replaced: writes that were acknowledged can be in it alone.
 */
export const isOfDatabase = Effect.fnUntraced(function* (target: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* DatabaseFiles.isOfDatabase(target, {
    exists: (path) => Effect.orElseSucceed(fs.exists(path), () => false),
    head: (path) =>
      Effect.gen(function* () {
        if ((yield* fs.stat(path)).type !== "File") return new Uint8Array()
        const head = yield* (yield* fs.open(path)).readAlloc(DatabaseFiles.databaseHeadBytes)
        return Option.getOrElse(head, () => new Uint8Array())
      }).pipe(
        Effect.scoped,
        Effect.orElseSucceed(() => new Uint8Array())
      )
  })
})

/**
 * Prepares a file that appears only when it is complete. It replaces a file of its name, but never one of a SQLite
 * database. The bytes go to a temporary file, readable by its owner alone,
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
  yield* KnownFields.checkFields(optionFields, options)
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.dirname(target)
  const random = path.join(folder, `.${path.basename(target)}.${yield* randomId}.tmp`)
  const { reserve = 0, temporary = random } = options
  const refuseDatabase = Effect.gen(function* () {
    if (!(yield* isOfDatabase(target))) return
    return yield* PlatformError.badArgument({
      module: "FileSystem",
      method: "prepareFile",
      description: `${target} belongs to a database and was not changed`
    })
  }).pipe(Effect.provideService(FileSystem.FileSystem, fs))
  yield* refuseDatabase
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary, { force: true })))
  if (temporary !== random) yield* fs.remove(temporary, { force: true })
  // Exclusive, and opened once: no link that others put in its place is written through.
  const opened = yield* Effect.flatMap(Effect.scope, Scope.fork)
  const file = yield* Scope.provide(fs.open(temporary, { flag: "wx", mode: 0o600 }), opened)
  if (reserve > 0) {
    yield* file.writeAll(new Uint8Array(reserve))
    yield* file.sync
  }
  return Effect.fnUntraced(function* <E, R, E2 = never>(
    content: Stream.Stream<Uint8Array, E, R>,
    check: Effect.Effect<void, E2> = Effect.void
  ) {
    let written = 0
    yield* file.seek(0n, "start")
    yield* Stream.runForEach(content, (part) => {
      written += part.length
      return file.writeAll(part)
    })
    yield* file.truncate(written)
    yield* file.sync
    yield* Scope.close(opened, Exit.void)
    yield* check
    yield* refuseDatabase
    yield* fs.rename(temporary, target)
    yield* syncFolder(fs, folder)
    return written
  })
})
