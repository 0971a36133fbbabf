/**
 * Some of it was done and some was not, as the summary on stdout says.
 */
import { Schema } from "effect"

export class PartlyDone extends Schema.TaggedError<PartlyDone>()("PartlyDone", {
  message: Schema.String,
  /** What to do about it, where that is not to correct rows and to send them again. */
  hint: Schema.optional(Schema.String)
}) {}
