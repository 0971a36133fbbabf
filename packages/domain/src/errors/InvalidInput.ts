/**
 * Input that the service would refuse whatever its state: named by its field, never by its value, since the value may be
 * somebody's address or key.
 */
import { Schema } from "effect"

export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  /** What was wrong, as the wire spells it: `Email`, `limit`, `[3].CustomFields`. */
  field: Schema.String,
  /** What is wrong with it and what would be right, in words that follow "…:". */
  issue: Schema.String
}) {
  override get message(): string {
    return `Invalid ${this.field}: ${this.issue}`
  }
}

const addressable = Schema.String.check(
  Schema.makeFilter(
    (text) => text !== "" && text !== "." && text !== ".." && !text.includes("\0") && text.isWellFormed()
  )
)

/**
 * Whether a text can stand as one segment of a path: the empty text would reach another operation, `.` and `..` are
 * folded away by every URL parser, a lone surrogate has no UTF-8, and NUL is refused by servers.
 */
export const isAddressable = Schema.is(addressable)

/** What is said of a text that cannot. */
export const notAddressable = (field: string): InvalidInput =>
  new InvalidInput({ field, issue: "it is empty, a dot path or broken text, and cannot stand in an address" })
