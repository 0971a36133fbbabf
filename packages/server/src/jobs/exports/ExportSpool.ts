import type { Contact, CustomFields } from "@roster/domain"
import { Effect, Stream } from "effect"
import { onTemporaryFile, openTemporaryFile } from "../../store/TemporaryFiles.ts"
import type { ExportFormat, ExportPiece } from "./ExportFormat.ts"

/** In characters: enough to be worth a system call. */
const pieceLength = 64 * 1024

/** Spools rows to a temporary file, so that their snapshot closes early: an open one makes the WAL grow. */
export const makeSpool = Effect.fnUntraced(function* (format: ExportFormat) {
  const { file, unlink } = yield* openTemporaryFile
  // A killed process leaves nothing, where the platform allows it.
  yield* Effect.ignore(onTemporaryFile(unlink))
  const written: Array<Omit<ExportPiece, "bytes"> & { readonly length: number }> = []
  const known = new Set<string>()
  let names: ReadonlyArray<string> = []
  let text = ""
  let rows = 0
  let separator = ""

  const flush = Effect.suspend(() => {
    if (rows === 0) return Effect.void
    const bytes = Buffer.from(text)
    written.push({ names, rows, length: bytes.length })
    text = ""
    rows = 0
    return onTemporaryFile(() => file.appendFile(bytes))
  })

  /** A custom field that is empty in every row would not come back from an import, so it gets no column. */
  const hasNewColumn = (own: CustomFields): boolean => {
    for (const name in own) if (own[name] !== "" && !known.has(name)) return true
    return false
  }

  const add = Effect.fnUntraced(function* (contacts: ReadonlyArray<Contact>) {
    for (const contact of contacts) {
      const own = format.fields(contact)
      if (hasNewColumn(own)) {
        yield* flush
        for (const [name, value] of Object.entries(own)) if (value !== "") known.add(name)
        // By code unit, whatever the locale of the machine.
        names = [...known].sort()
      }
      text += separator + format.row(contact, names)
      separator = format.separator
      rows++
      if (text.length >= pieceLength) yield* flush
    }
  })

  const pieces = Stream.suspend(() => {
    let position = 0
    return Stream.mapEffect(Stream.fromIterable(written), ({ length, names, rows }) =>
      onTemporaryFile(async (): Promise<ExportPiece> => {
        const bytes = Buffer.allocUnsafeSlow(length)
        const { bytesRead } = await file.read(bytes, 0, length, position)
        if (bytesRead < length) throw new RangeError("the file is shorter than what was written")
        position += length
        return { bytes, names, rows }
      })
    )
  })

  /** Closes the spool for writing and gives its pieces in order, and the names of all columns of custom fields. */
  const finish = Effect.map(flush, () => ({ names, pieces }))

  return { add, finish }
})
