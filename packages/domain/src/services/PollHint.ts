import { Context, type Duration } from "effect"

/**
 * Called with the wait that a service asks for before the next poll; the polling code provides it. The hint travels in the
 * context, since it is a matter of HTTP (`Retry-After`) and the domain value of `exportStatus` has no place for it.
 */
export const PollHint = Context.Reference<(wait: Duration.Duration) => void>("@roster/domain/PollHint", {
  defaultValue: () => () => {}
})
