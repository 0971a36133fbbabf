/** An error in the words of the domain: what happened, what to do, and the place in a rule. What the page has a name of its own for has it. */
import { InvalidInput, InvalidRule, ServiceError } from "@roster/domain"
import { invalidRuleWords } from "@roster/domain/internal"
import { Cause, Option, Predicate } from "effect"
import { AsyncResult } from "effect/reactivity"
import { sharedTexts } from "../texts/SharedTexts.ts"

/** An error with the page's words for what code and the command line name. */
const ownWords = (error: unknown): string | undefined => {
  if (error instanceof InvalidRule) return invalidRuleWords(error, sharedTexts.theFilter)
  if (error instanceof ServiceError && error.reason._tag === "OutcomeUnknown") {
    return sharedTexts.maybeDone(error.reason.detail.replace(/\.$/, ""))
  }
  if (!(error instanceof InvalidInput)) return undefined
  const field = error.field.replace(/^.*customFields\./, "")
  const title = new Map(Object.entries(sharedTexts.fieldsOfErrors)).get(field) ?? field
  return `${title}: ${error.issue}`
}

/** What an error says. A defect says that it is one, and nothing of what it holds. */
export const messageOf = (error: unknown): string =>
  ownWords(error) ??
  (Predicate.hasProperty(error, "message") && typeof error.message === "string" && error.message !== ""
    ? error.message
    : sharedTexts.bug)

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
