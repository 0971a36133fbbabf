/**
 * The rows of an export in a temporary file, as they will stand in its file: no snapshot stays open while parts are written,
 * which would keep all that is written meanwhile in the WAL.
 */
import { Effect, Option, Schema, Stream } from "effect"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ExportPiece } from "./ExportPieces.ts"
import { uploadPrefix } from "../../store/TemporaryFiles.ts"

/** The temporary folder does not take or give what it should. */
export class SpoolFailed extends Schema.TaggedError<SpoolFailed>()("SpoolFailed", { cause: Schema.Defect() }) {
  override get message(): string {
    return "the temporary folder cannot hold the export; make room there, or name another by TMPDIR, and ask again"
  }
}

/** A piece in UTF-8. */
export interface SpooledPiece extends Omit<ExportPiece, "text"> {
  readonly bytes: Uint8Array
}

export interface ExportSpool {
  readonly add: (piece: ExportPiece) => Effect.Effect<void, SpoolFailed>
  /** All pieces in the order in which they were added. */
  readonly pieces: Stream.Stream<SpooledPiece, SpoolFailed>
}

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new SpoolFailed({ cause }) })

/**
 * A file that nobody else may read. Its name is removed at once where the platform allows, else with the scope, and what
 * a killed process leaves is removed like an upload.
 */
const openPrivate = Effect.acquireRelease(
  attempt(async () => {
    const folder = await mkdtemp(join(tmpdir(), uploadPrefix))
    const remove = () => rm(folder, { recursive: true, force: true })
    try {
      const file = await open(join(folder, "rows"), "wx+", 0o600)
      await remove().catch(() => {})
      return { file, remove }
    } catch (cause) {
      await remove()
      throw cause
    }
  }),
  ({ file, remove }) => Effect.ignore(attempt(() => file.close().finally(remove)))
)

/** A spool that is gone with the scope. */
export const makeSpool = Effect.gen(function* () {
  const { file } = yield* openPrivate
  const kept: Array<Omit<SpooledPiece, "bytes"> & { readonly length: number }> = []

  const add = ({ names, rows, text }: ExportPiece) =>
    attempt(async () => {
      const bytes = Buffer.from(text)
      await file.appendFile(bytes)
      kept.push({ names, rows, length: bytes.length })
    })

  const pieces = Stream.paginate({ index: 0, position: 0 }, ({ index, position }) => {
    const piece = kept[index]
    return piece === undefined
      ? Effect.succeed([[], Option.none()] as const)
      : attempt(async () => {
          const { length, names, rows } = piece
          const bytes = Buffer.allocUnsafeSlow(length)
          const { bytesRead } = await file.read(bytes, 0, length, position)
          if (bytesRead < length) throw new RangeError("the file is shorter than what was written")
          return [[{ bytes, names, rows }], Option.some({ index: index + 1, position: position + length })] as const
        })
  })

  return { add, pieces } satisfies ExportSpool
})
