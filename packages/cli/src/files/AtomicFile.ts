/**
 * Files that a command writes. The bytes go to a temporary file beside the real one, which takes its name when they are
 * complete: a file under the real name is always whole, and a failure leaves nothing behind.
 */
import { Effect, FileSystem, Option, Path, PlatformError, Stream } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"
import { usageError } from "../errors/UsageError.ts"

/** Refuses a folder, and without `force` a file that is there. */
export const refuseTaken = Effect.fnUntraced(function* (target: string, options: { readonly force: boolean }) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(target))
  if (Option.isNone(info)) return
  if (info.value.type === "Directory") {
    return yield* usageError(`${target} is a folder.`, "Name a file in it.")
  }
  // The name of a device or pipe would become that of a file, for every program that uses it.
  if (info.value.type !== "File") {
    return yield* usageError(`${target} is a device, a pipe or a socket, not a file.`, "Name a file.")
  }
  if (!options.force) {
    return yield* usageError(
      `${target} already exists and was not changed.`,
      "Use another file, or add --force to overwrite it."
    )
  }
})

/** More than any secret has, in bytes: a full disk shows before a secret is asked for that there is no room for. */
const reserved = 4096

/**
 * Makes sure that the file can be written, before anything is asked of a service. Gives the function that writes it, whose
 * result is the number of bytes. An existing file is replaced only with `force`.
 */
export const prepare = Effect.fnUntraced(function* (target: string, options: { readonly force: boolean }) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${crypto.randomUUID()}.tmp`)

  const checkTarget = refuseTaken(target, options)

  yield* checkTarget
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary, { force: true })))
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
      yield* file.writeAll(new Uint8Array(reserved))
      yield* file.sync
    })
  ).pipe(Effect.mapError(fileProblem(target, "written")))

  return Effect.fnUntraced(function* <E, R>(content: Stream.Stream<Uint8Array, E, R>) {
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
    ).pipe(Effect.catchIf(PlatformError.isPlatformError, (error) => Effect.fail(fileProblem(target, "written")(error))))
    yield* checkTarget
    yield* fs.rename(temporary, target).pipe(Effect.mapError(fileProblem(target, "written")))
    return written
  })
})
