/** An error in the words of the domain: what happened, what to do, and the place in a rule. */
import { Cause, Option, Predicate } from "effect"
import { AsyncResult } from "effect/reactivity"

/** What an error says. A defect says that it is one, and nothing of what it holds. */
export const messageOf = (error: unknown): string =>
  Predicate.hasProperty(error, "message") && typeof error.message === "string" && error.message !== ""
    ? error.message
    : "This is a bug in Roster Studio. What was stored stays as it is; reload the page to go on."

/** Why a result failed, in words, or `undefined` for one that did not fail, or was only stopped. */
export const problemOf = <A, E>(result: AsyncResult.AsyncResult<A, E>): string | undefined => {
  if (!AsyncResult.isFailure(result) || AsyncResult.isInterrupted(result)) return undefined
  return messageOf(Option.getOrUndefined(Cause.findErrorOption(result.cause)))
}

/** An error, said at once by a screen reader. Spaces and lines stand as they are, since carets point at a place. */
export const Problem = ({ message }: { readonly message: string | undefined }) =>
  message === undefined ? null : (
    <div className={message.includes("^") ? "problem mono" : "problem"} role="alert">
      {message}
    </div>
  )
