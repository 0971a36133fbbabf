/** How a layer tells a program that polls when the service wants to be asked again. */
import { Context, type Duration } from "effect"

/**
 * Called with the wait that a service asks for before the next poll. A reference, since an export status has no place for it
 * and only a layer over HTTP has one.
 */
export const PollHint = Context.Reference<(wait: Duration.Duration) => void>("@roster/domain/PollHint", {
  defaultValue: () => () => {}
})
