/** The addresses that a file names, for what is done to the contacts that have them. */
import {
  canonicalEmail,
  type ImportMapping,
  type ImportRow,
  InvalidInput,
  readContacts,
  UnreadableFile
} from "@roster/domain"
import { ContactColumns, fnRedacted, joinBytes } from "@roster/domain/internal"
import { Effect, Result, Stream } from "effect"

/** Makes what finds the address in a row, whatever its other cells hold. */
const makeAddressOf = (mapping: ImportMapping) => {
  let known: ReadonlyArray<string> | undefined
  let columns: ReturnType<typeof ContactColumns.importColumns> = Result.fail("")
  return ({ contact, record }: ImportRow): Result.Result<string, string> => {
    if (Result.isSuccess(contact)) return Result.succeed(contact.success.email)
    if (record === undefined) return Result.fail(contact.failure)
    const { cells, names } = record
    // The rows of a CSV share their headings, and each object of JSON has its own.
    if (names !== known) {
      known = names
      columns = ContactColumns.importColumns(names, ContactColumns.presentColumns(names, mapping))
    }
    return Result.flatMap(columns, (columns) =>
      Result.mapError(ContactColumns.rowAddress(columns, cells), ({ reason }) => reason)
    )
  }
}

/**
 * Reads the addresses of a file as an import reads it, each address once: those of the column Email of a CSV or JSON file, or one
 * on each line without a heading. A line without one is `InvalidInput` that names it, since a user who names contacts in a file
 * means all of them.
 */
export const readAddresses = fnRedacted("readAddresses")(function* <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  mapping: ImportMapping = {}
): Effect.fn.Return<ReadonlyArray<string>, E | UnreadableFile | InvalidInput, R> {
  const bytes = joinBytes(yield* Stream.runCollect(content))
  const read = Effect.fnUntraced(function* (mapping: ImportMapping) {
    const emails = new Map<string, string>()
    const addressOf = makeAddressOf(mapping)
    yield* Stream.runForEach(readContacts(Stream.make(bytes), mapping), (row) =>
      Result.match(addressOf(row), {
        onSuccess: (email) => Effect.sync(() => emails.set(canonicalEmail(email), email)),
        onFailure: (issue) => Effect.fail(new InvalidInput({ field: `line ${row.line}`, issue }))
      })
    )
    return [...emails.values()]
  })
  return yield* Effect.catchIf(
    read(mapping),
    (error): error is UnreadableFile => error instanceof UnreadableFile && error.header === false,
    () => read({ ...mapping, header: false })
  )
})
