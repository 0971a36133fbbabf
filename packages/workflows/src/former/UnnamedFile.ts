/** Temporary files without a name: nothing of them is left once their scope or the process ends. */
import { Effect, FileSystem } from "effect"

/** Opens a new file for its owner alone, and removes its name at once. */
export const openUnnamed = Effect.fnUntraced(function* (prefix: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectory({ prefix })
  const remove = Effect.ignore(fs.remove(folder, { recursive: true, force: true }))
  // Some systems remove an open file only when it is closed, which the scope does before.
  yield* Effect.addFinalizer(() => remove)
  return yield* Effect.ensuring(fs.open(`${folder}/file`, { flag: "wx+", mode: 0o600 }), remove)
})

/** Fills `bytes` from a place of an open file, and gives them; `undefined` if it ends before. */
export const readAt = Effect.fnUntraced(function* <Bytes extends Uint8Array>(
  file: FileSystem.File,
  at: number,
  bytes: Bytes
) {
  for (let done = 0; done < bytes.length;) {
    const read = Number(yield* file.read(bytes.subarray(done), { position: BigInt(at + done) }))
    if (read === 0) return undefined
    done += read
  }
  return bytes
})
