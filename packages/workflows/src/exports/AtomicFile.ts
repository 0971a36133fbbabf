import { Effect, FileSystem, Path, Stream } from "effect"

/** How `prepareFile` makes the temporary file. */
export interface PrepareOptions {
  /** Bytes that must have room on the disk now, before there is any content (default: none). */
  readonly reserve?: number | undefined
  /** Path of the temporary file (default: a random name beside the target). A fixed one needs a lock; leftovers are overwritten. */
  readonly temporary?: string | undefined
}

/**
 * Prepares a file that appears under its name only when it is whole: the bytes go to a temporary file beside it, readable by
 * its owner alone, which is flushed to disk and renamed. Gives the function that writes the content and takes the name; its
 * result is the number of bytes, and its second argument a last check, just before the file is renamed. The scope removes
 * the temporary file, so a failure leaves nothing behind.
 */
export const prepareFile = Effect.fnUntraced(function* (target: string, options: PrepareOptions = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const random = path.join(path.dirname(target), `.${path.basename(target)}.${crypto.randomUUID()}.tmp`)
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
    return written
  })
})
