/** A row of a file of contacts, as every reader of files gives it. */
import type { Result } from "effect"
import type { ContactPayload } from "../contacts/Contact.ts"
import type { FastContact } from "./FastCsvRow.ts"
import type { FileHeader } from "./RejectedRows.ts"

/** A row below the header. It keeps its piece of the file in memory. */
export interface ImportRow {
  /** The line on which the row begins, counted from 1. */
  readonly line: number
  /** The contact of the row, or why it is none. */
  readonly contact: Result.Result<ContactPayload, string>
  /** The cells as they stand in the file; those of a malformed row are cut for people, who correct them. */
  readonly cells: ReadonlyArray<string>
  /** The address that would do in place of that of a row without a contact; several are listed. */
  readonly suggestion?: string | undefined
  /** The text of a row without a contact that stands below a column without a name, counted from 0. */
  readonly unnamed?: { readonly column: number; readonly text: string } | undefined
  /** The header of the file, shared by all rows. */
  readonly header: FileHeader
  /** The same contact for the fast path, if the row is simple enough. */
  readonly fast?: FastContact | undefined
}
