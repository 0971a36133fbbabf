/**
 * How long a service asks its caller to wait before the next poll. The hint travels in the context, since it is a matter of
 * HTTP (`Retry-After`) and `exportStatus` answers with a domain value that has no place for it.
 */
import { Context, type Duration } from "effect"

/** Called with the wait that a service asks for; whoever polls provides it. */
export const PollHint = Context.Reference<(wait: Duration.Duration) => void>("@roster/domain/PollHint", {
  defaultValue: () => () => {}
})
