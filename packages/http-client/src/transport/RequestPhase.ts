/**
 * How far a request has come, as far as its transport says. A timeout interrupts the transport, which then has no error to
 * say it with: so the transport keeps it up to date in a value that the caller provides.
 */
import { Context } from "effect"

export interface RequestPhase {
  /** Whether any of the request was written; `undefined` where the transport does not say. */
  sent: boolean | undefined
  /** How many bytes of the response's body have arrived. */
  receivedBytes: number | undefined
}

export const CurrentRequestPhase = Context.Reference<RequestPhase | undefined>("@roster/http-client/RequestPhase", {
  defaultValue: () => undefined
})
