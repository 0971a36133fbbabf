/**
 * The rows of an export in a temporary file, between the database and the file that is made of them: no snapshot stays
 * open while parts are written, which would keep all that is written meanwhile in the WAL.
 */
import { Effect, Option, Schema, Stream } from "effect"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { uploadPrefix } from "./ImportUploads.ts"

/**
 * The temporary folder does not take or give what it should.
 *
 * @internal
 */
export class SpoolFailed extends Schema.TaggedError<SpoolFailed>()("SpoolFailed", { cause: Schema.Defect() }) {
  override get message(): string {
    return "the temporary folder cannot hold the export; make room there, or name another by TMPDIR, and ask again"
  }
}

/**
 * @internal
 */
export interface ExportSpool<Row> {
  readonly add: (rows: ReadonlyArray<Row>) => Effect.Effect<void, SpoolFailed>
  /** All rows in the order in which they were added. */
  readonly rows: Stream.Stream<Row, SpoolFailed>
}

/** As much as is worth a call, and far less than the longest text there can be. */
const blockLength = 256 * 1024

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

/**
 * A spool for rows that JSON can carry, gone with the scope.
 *
 * @internal
 */
export const makeSpool = Effect.fnUntraced(function* <Row>() {
  const { file } = yield* openPrivate
  /** The length of each block in bytes. */
  const blocks: Array<number> = []
  const write = (texts: ReadonlyArray<string>) =>
    attempt(async () => {
      const block = Buffer.from(`[${texts.join(",")}]`)
      await file.appendFile(block)
      blocks.push(block.length)
    })

  const add = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
    let texts: Array<string> = []
    let length = 0
    for (const row of rows) {
      const text = JSON.stringify(row)
      texts.push(text)
      length += text.length
      if (length < blockLength) continue
      yield* write(texts)
      texts = []
      length = 0
    }
    if (texts.length > 0) yield* write(texts)
  })

  const rows = Stream.paginate({ block: 0, position: 0 }, ({ block, position }) => {
    const length = blocks[block]
    return length === undefined
      ? Effect.succeed([[], Option.none()] as const)
      : attempt(async () => {
          const bytes = Buffer.alloc(length)
          const { bytesRead } = await file.read(bytes, 0, length, position)
          if (bytesRead < length) throw new RangeError("the file is shorter than what was written")
          // What `add` wrote.
          const rows = JSON.parse(bytes.toString()) as ReadonlyArray<Row>
          return [rows, Option.some({ block: block + 1, position: position + length })] as const
        })
  })

  return { add, rows } satisfies ExportSpool<Row>
})
