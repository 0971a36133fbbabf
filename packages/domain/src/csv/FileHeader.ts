/** What the first line of a file of contacts says. */
import { Schema } from "effect"

/** The characters that may stand between two cells. */
export const Delimiter = Schema.Literals([",", ";", "\t", "|"])
export type Delimiter = typeof Delimiter.Type

/** The header of a file of contacts and the delimiter of its cells. */
export const FileHeader = Schema.Struct({
  /** The texts of the cells, in the order of the file. */
  cells: Schema.Array(Schema.String),
  /** The character between two cells. */
  delimiter: Delimiter,
  /** What the file is (default: CSV). The one cell of a row of NDJSON is its object. */
  format: Schema.optionalKey(Schema.Literals(["Ndjson"]))
})
export interface FileHeader extends Schema.Schema.Type<typeof FileHeader> {}
