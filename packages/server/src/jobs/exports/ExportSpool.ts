/** The temporary file that the rows of an export wait in, so that their snapshot of the database closes early. */
import { type Contact, TaggedError } from "@roster/domain"
import { FieldNames } from "@roster/domain/internal"
import { Effect, Stream } from "effect"
import { onTemporaryFile, openTemporaryFile } from "../../store/TemporaryFiles.ts"
import type { ExportFormat, ExportPiece } from "./ExportFormat.ts"

/** In characters: enough to be worth a system call. */
const pieceLength = 64 * 1024

/** The columns of custom fields in a CSV file: each costs a cell in every row. Spreadsheets have at most 16,384. */
export const maximumCustomColumns = 4096

/** The contacts have more custom fields than a CSV file has columns. */
export class TooManyColumns extends TaggedError<TooManyColumns>()("TooManyColumns", {}) {
  override get message(): string {
    return (
      `the contacts have more than ${maximumCustomColumns} different custom fields, which would be as many ` +
      "columns of the CSV file. Export them as Json or Xml, or fewer contacts by a rule"
    )
  }
}

/** Spools rows to a temporary file, so that their snapshot closes early: an open one makes the WAL grow. */
export const makeSpool = Effect.fnUntraced(function* (format: ExportFormat, lists = false) {
  const { file, unlink } = yield* openTemporaryFile
  // A killed process leaves nothing, where the platform allows it.
  yield* unlink
  const written: Array<{ readonly rows: number; readonly length: number; readonly known: number }> = []
  /** The custom fields that become columns, numbered in the order in which they were found. */
  const found = new Map<string, number>()
  /** Their names, sorted by code unit, whatever the locale of the machine. */
  let names: ReadonlyArray<string> = []
  let text = ""
  let rows = 0
  let separator = ""

  const flush = Effect.suspend(() => {
    if (rows === 0) return Effect.void
    const bytes = Buffer.from(text)
    written.push({ rows, length: bytes.length, known: names.length })
    text = ""
    rows = 0
    return onTemporaryFile(() => file.appendFile(bytes))
  })

  /** Their names by their folded names: a column has the spelling that was found first. */
  const first = new Map<string, string>()
  const columnOf = (name: string): string => (found.has(name) ? name : (first.get(FieldNames.foldName(name)) ?? name))

  /** Finds the columns of some contacts at once: to sort the names for each contact would be quadratic. */
  const inColumns = (contacts: ReadonlyArray<Contact>): ReadonlyArray<Contact> =>
    contacts.map((contact) => {
      const own = format.fields(contact)
      for (const name in own) {
        // A custom field that is empty in every row would not come back from an import, so it gets no column.
        if (own[name] === "" || found.has(name) || first.has(FieldNames.foldName(name))) continue
        first.set(FieldNames.foldName(name), name)
        found.set(name, found.size)
      }
      const customFields = FieldNames.renamed(own, columnOf)
      return customFields === own ? contact : { ...contact, customFields }
    })

  const add = Effect.fnUntraced(function* (contacts: ReadonlyArray<Contact>) {
    const spelled = inColumns(contacts)
    if (found.size > names.length) {
      if (found.size > maximumCustomColumns) return yield* new TooManyColumns({})
      yield* flush
      names = [...found.keys()].sort()
    }
    for (const contact of spelled) {
      text += separator + format.row(contact, names, lists)
      separator = format.separator
      rows++
      if (text.length >= pieceLength) yield* flush
    }
  })

  const pieces = Stream.suspend(() => {
    let position = 0
    return Stream.mapEffect(Stream.fromIterable(written), ({ known, length, rows }) =>
      onTemporaryFile(async (): Promise<ExportPiece> => {
        const bytes = Buffer.allocUnsafeSlow(length)
        const { bytesRead } = await file.read(bytes, 0, length, position)
        if (bytesRead < length) throw new RangeError("the file is shorter than what was written")
        position += length
        const isKnown = (name: string): boolean => (found.get(name) ?? known) < known
        return { bytes, rows, names: known === names.length ? names : names.filter(isKnown) }
      })
    )
  })

  /** Closes the spool for writing and gives its pieces in order, and the names of all columns of custom fields. */
  const finish = Effect.map(flush, () => ({ names, pieces }))

  return { add, finish }
})
