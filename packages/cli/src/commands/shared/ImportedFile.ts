/**
 * A file that is read twice. Stdin, pipes, what packed files hold and the sheet of a workbook are copied to a private
 * temporary file first.
 */
import type { ImportMapping } from "@roster/domain"
import { isPacked, isWorkbook, packedBytes, unpacked } from "@roster/domain/PackedFile"
import { Effect, FileSystem, Option, Stream } from "effect"
import { createHash } from "node:crypto"
import { fileProblem } from "../../errors/FileProblem.ts"
import { temporaryPath, temporaryProblem, temporarySink } from "../../files/TemporaryFile.ts"
import { readBytes } from "../../settings/InputFile.ts"
import { usageError, type UsageError } from "../../errors/UsageError.ts"

export interface ImportedFile {
  /** The path of the named file, or of the copy of a pipe. */
  readonly path: string
  /** Whether the content is the named file itself, so that other files can be written beside it. */
  readonly isFile: boolean
  /** How the content is read, whatever else is said: that of a workbook is CSV of its sheet. */
  readonly mapping: ImportMapping
  /** The names of other sheets of a workbook that have addresses. */
  readonly otherSheets: Effect.Effect<ReadonlyArray<string>, UsageError>
  /** The content; reading it computes the digest. */
  readonly digested: Stream.Stream<Uint8Array, UsageError>
  /** The SHA-256 of the content, after it was read. */
  readonly digest: Effect.Effect<string>
  /** The content again; fails if it differs from the content of the digest. */
  readonly again: Stream.Stream<Uint8Array, UsageError>
  /** Refuses a file that was modified since it was opened. */
  readonly unchanged: Effect.Effect<void, UsageError>
}

/** Copies a stream to a private temporary file, which is removed with the scope, and returns its path. */
const temporaryCopy = Effect.fnUntraced(function* <E>(content: Stream.Stream<Uint8Array, E>) {
  const copy = yield* temporaryPath("content")
  yield* Stream.run(content, temporarySink(copy))
  return copy
}, temporaryProblem("what comes from a pipe, an archive or a workbook"))

/** The content of a file: the file itself, or a copy of what is packed in it or of a sheet. */
const contentIn = Effect.fnUntraced(function* (path: string, sheet: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const start = yield* Effect.scoped(
    Effect.flatMap(fs.open(path), (file) => Effect.map(file.readAlloc(packedBytes), Option.getOrUndefined))
  ).pipe(Effect.mapError(fileProblem(path, "read")))
  if (start !== undefined && isWorkbook(start)) {
    const { otherAddressSheets, workbookMapping, workbookToCsv } = yield* Effect.promise(
      () => import("@roster/workflows/Workbook")
    )
    const bytes = yield* readBytes(path)
    const copy = yield* temporaryCopy(workbookToCsv(bytes, { sheet }))
    const otherSheets = Effect.catchTag(otherAddressSheets(bytes, { sheet }), ["InvalidInput", "UnreadableFile"], () =>
      Effect.succeed([])
    )
    return { copy, mapping: workbookMapping, otherSheets }
  }
  if (sheet !== undefined) return yield* usageError(`${path} is no workbook, so it has no sheets.`, "Omit --sheet.")
  const isAsItIs = start === undefined || !isPacked(start)
  const copy = isAsItIs ? path : yield* temporaryCopy(unpacked(yield* readBytes(path)))
  return { copy, mapping: {}, otherSheets: Effect.succeed([]) }
})

/** Opens a file, or `-` for standard input. */
export const openImported = Effect.fnUntraced(function* (named: string, sheet: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const look = (path: string) => Effect.mapError(fs.stat(path), fileProblem(path, "read"))
  const type = named === "-" ? undefined : (yield* look(named)).type
  // A device may be endless and would fill the disk.
  if (type === "CharacterDevice" || type === "BlockDevice") {
    return yield* usageError(`${named} is a device, not a file.`, "Use a file, a pipe, or - for stdin.")
  }
  const isFile = type === "File"
  const path = isFile ? named : yield* temporaryCopy(yield* readBytes(named))
  const before = yield* look(path)
  const { copy, mapping, otherSheets } = yield* contentIn(path, sheet)
  const bytes = yield* readBytes(copy)
  const unread = () => ({ hash: createHash("sha256"), size: 0 })
  /** The state of the digest after the first read. */
  let checked = unread()
  const changed = Effect.fail(
    usageError(
      `${named} changed while it was being sent: it is no longer the file that was checked.`,
      "Import it again when it is complete."
    )
  )
  /** Reads up to `longest` bytes, and updates the digest. */
  const read = (known: typeof checked, longest: number) =>
    Stream.tap(bytes, (part) => {
      known.hash.update(part)
      known.size += part.length
      return known.size > longest ? changed : Effect.void
    })
  const file: ImportedFile = {
    path,
    isFile,
    mapping,
    otherSheets,
    digested: Stream.suspend(() => read((checked = unread()), Infinity)),
    digest: Effect.sync(() => checked.hash.copy().digest("hex")),
    again: Stream.suspend(() => {
      const known = unread()
      const isSame = () => known.hash.digest("hex") === checked.hash.copy().digest("hex")
      const check = Effect.suspend(() => (isSame() ? Effect.void : changed))
      return Stream.concat(read(known, checked.size), Stream.fromEffectDrain(check))
    }),
    unchanged: Effect.flatMap(look(path), (now) =>
      now.size === before.size && String(now.mtime) === String(before.mtime)
        ? Effect.void
        : Effect.fail(
            usageError(`${named} changed while it was being read. Nothing was sent.`, "Import it when it is complete.")
          )
    )
  }
  return file
})
