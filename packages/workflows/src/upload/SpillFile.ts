/**
 * Room on the disk for what is too much for the memory: blocks of words in a private temporary file, which has no name and is
 * gone with its scope, or with the process.
 */
import { Effect, FileSystem, type PlatformError, Scope } from "effect"

export interface SpillFile {
  /** Keeps a block, and gives the number that it is found by. */
  readonly write: (block: Uint32Array<ArrayBuffer>) => Effect.Effect<number, PlatformError.PlatformError>
  /** Fills as many words as one block has. */
  readonly read: (number: number, to: Uint32Array<ArrayBuffer>) => Effect.Effect<void, PlatformError.PlatformError>
}

const bytesOf = ({ buffer, byteLength, byteOffset }: Uint32Array<ArrayBuffer>) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** Room for blocks of one length. The file comes into being with the first one. */
export const makeSpillFile = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  let blocks = 0

  /** The name is taken away at once. */
  const create = Effect.gen(function* () {
    const folder = yield* fs.makeTempDirectory({ prefix: "roster-rows-" })
    return yield* Effect.ensuring(
      Scope.provide(fs.open(`${folder}/rows`, { flag: "wx+", mode: 0o600 }), scope),
      Effect.ignore(fs.remove(folder, { recursive: true }))
    )
  })
  const opened = yield* Effect.cached(create)

  const spill: SpillFile = {
    write: (block) => Effect.flatMap(opened, (file) => Effect.map(file.writeAll(bytesOf(block)), () => blocks++)),
    read: Effect.fnUntraced(function* (number, to) {
      const file = yield* opened
      const bytes = bytesOf(to)
      for (let at = 0; at < bytes.length;) {
        const position = BigInt(number) * BigInt(bytes.length) + BigInt(at)
        const read = yield* file.read(bytes.subarray(at), { position })
        if (read === 0) return yield* Effect.die(new Error("a temporary file without a name was cut off"))
        at += read
      }
    })
  }
  return spill
})
