/** The addresses that a file names, for what is done to the contacts that have them. */
import {
  canonicalEmail,
  emailAddressIssue,
  type ImportRow,
  InvalidInput,
  readContacts,
  type UnreadableFile
} from "@roster/domain"
import { ContactColumns, fnRedacted, joinBytes } from "@roster/domain/internal"
import { Effect, Result, Stream } from "effect"

/** Whether a file begins with an address, so that it has no header. */
const isPlain = (bytes: Uint8Array): boolean => {
  const [first = ""] = new TextDecoder().decode(bytes.subarray(0, 1024)).split(/\r?\n|\r/, 1)
  return emailAddressIssue(first.trim()) === undefined
}

/** The address in a row, whatever its other cells hold; of JSON, whose row is one cell, that of its contact. */
const addressOf = ({ cells, contact, header }: ImportRow): string => {
  if (header.format === "Ndjson") {
    return Result.match(contact, { onSuccess: ({ email }) => email, onFailure: () => "" })
  }
  const at = header.cells.findIndex((name) => ContactColumns.restoreCell(name).trim().toLowerCase() === "email")
  return ContactColumns.restoreCell(cells[at] ?? "").trim()
}

/**
 * Reads the addresses of a file: those of the column Email of a CSV or JSON file, or one on each line, each address once. A
 * line without one is `InvalidInput` that names it, since a user who names contacts in a file means all of them.
 */
export const readAddresses = fnRedacted("readAddresses")(function* <E, R>(
  content: Stream.Stream<Uint8Array, E, R>
): Effect.fn.Return<ReadonlyArray<string>, E | UnreadableFile | InvalidInput, R> {
  const bytes = joinBytes(yield* Stream.runCollect(content))
  const [header, before] = isPlain(bytes) ? ["Email\n", 1] : ["", 0]
  const emails = new Map<string, string>()
  const rows = readContacts(Stream.make(new TextEncoder().encode(header), bytes))
  yield* Stream.runForEach(rows, (row) => {
    const email = addressOf(row)
    const issue = emailAddressIssue(email)
    if (issue !== undefined) return Effect.fail(new InvalidInput({ field: `line ${row.line - before}`, issue }))
    emails.set(canonicalEmail(email), email)
    return Effect.void
  })
  return [...emails.values()]
})
