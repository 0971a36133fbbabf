/**
 * Spills blocks of words to a private temporary file. The file has no name: it disappears with its scope or the process.
 */
import { Effect, FileSystem, type PlatformError, Scope } from "effect"

export interface SpillFile {
  /** Appends a block and returns its number. */
  readonly write: (block: Uint32Array<ArrayBuffer>) => Effect.Effect<number, PlatformError.PlatformError>
  /** Fills `to`, which has the length of a block, with the block of that number. */
  readonly read: (number: number, to: Uint32Array<ArrayBuffer>) => Effect.Effect<void, PlatformError.PlatformError>
}

const bytesOf = ({ buffer, byteLength, byteOffset }: Uint32Array<ArrayBuffer>) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** A file for blocks of one length, created with the first block. */
export const makeSpillFile = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  let blocks = 0

  // The name is removed at once, so that nothing is left behind.
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
