/**
 * Files that appear under their name only when they are whole: the bytes go to a temporary file beside the target, which is
 * flushed to disk and renamed.
 */
import { Effect, FileSystem, Path, Stream } from "effect"

/**
 * Creates the temporary file, readable by its owner alone, and gives the function that writes the content and takes the
 * name. The result of that is the number of bytes. The scope removes the temporary file, so a failure leaves nothing behind.
 *
 * `reserve` is a number of bytes that must have room on the disk now, before there is any content. The function takes a
 * last check, which runs just before the file is renamed.
 */
export const prepareFile = Effect.fnUntraced(function* (target: string, options: { readonly reserve?: number } = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${crypto.randomUUID()}.tmp`)
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary, { force: true })))
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
      if (options.reserve === undefined) return
      yield* file.writeAll(new Uint8Array(options.reserve))
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
    return written
  })
})
