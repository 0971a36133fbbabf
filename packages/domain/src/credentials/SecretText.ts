/** The text of a secret that a caller gives. */
import { Predicate, Redacted, Result } from "effect"

/** The text of a secret that this copy of effect made; `undefined` for anything else. */
export const secretText = (secret: unknown): string | undefined => {
  if (!Redacted.isRedacted(secret)) return undefined
  const text = Result.getOrUndefined(Result.try(() => Redacted.value(secret)))
  return Predicate.isString(text) ? text : undefined
}

/** What is wrong with a secret that has no text, and what to do. */
export const noSecretText = "it is not a text in a Redacted of the same copy of effect; use Redacted.make"
