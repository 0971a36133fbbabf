/**
 * When a service says that it is worth looking again: a box that whoever waits puts into the context, and that the look
 * fills where its answer says so.
 */
import { Context, type Duration } from "effect"

export const LookAgain = Context.Reference<{ after: Duration.Duration | undefined } | undefined>(
  "@roster/domain/LookAgain",
  { defaultValue: () => undefined }
)
