/** A row of a file of contacts, as every reader of files gives it. */
import type { Result } from "effect"
import type { ContactPayload } from "../contacts/Contact.ts"
import type { ConsentText, RowFault } from "./ContactColumns.ts"
import type { FileHeader } from "./FileHeader.ts"

/** The headings of a row and the text below each, before anything is said of what they mean. */
export interface RowRecord {
  /** The headings; of JSON the names of the object. */
  readonly names: ReadonlyArray<string>
  /** The texts, in the same order. */
  readonly cells: ReadonlyArray<string>
}

/** A row below the header. */
export interface ImportRow {
  /** The line on which the row begins, counted from 1. */
  readonly line: number
  /** The contact of the row, or why it is none. */
  readonly contact: Result.Result<ContactPayload, string>
  /** The lists on which the row puts its contact (default: none). */
  readonly lists?: ReadonlyArray<string> | undefined
  /** The cells as they stand in the file; those of a malformed row are cut for people, who correct them. */
  readonly cells: ReadonlyArray<string>
  /** The fault of a row without a contact; rows of other readers may lack it. */
  readonly fault?: RowFault | undefined
  /** The text of a row without a contact that stands below a column without a name, counted from 0. */
  readonly unnamed?: { readonly column: number; readonly text: string } | undefined
  /** The texts of the row in columns that become custom fields, and whose headings may say who wants mail. */
  readonly consent?: ReadonlyArray<ConsentText> | undefined
  /** The header of the file, shared by all rows. */
  readonly header: FileHeader
  /** The headings and the text below each, as the file has them; `undefined` for a row that cannot be split. */
  readonly record?: RowRecord | undefined
}
