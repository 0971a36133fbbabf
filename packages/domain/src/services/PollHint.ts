/** How a layer tells a program that polls when the service wants to be asked again. */
import { Context, type Duration } from "effect"

/** Called with the wait that a service asks for before the next poll; an export status has no place for it. */
export const PollHint = Context.Reference<(wait: Duration.Duration) => void>("@roster/domain/PollHint", {
  defaultValue: () => () => {}
})
