/**
 * How far an attempt is, as far as its transport says: a box in the context that the transport fills. It is what a timeout
 * is judged by.
 */
import { Context } from "effect"

/**
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  /** Whether any of the request was written; `undefined` where the transport does not say. */
  sent: boolean | undefined
  receivedBytes: number | undefined
}

/**
 * @category services
 * @since 0.1.0
 */
export const AttemptProgress = Context.Reference<Progress | undefined>("@roster/http-client/AttemptProgress", {
  defaultValue: () => undefined
})
