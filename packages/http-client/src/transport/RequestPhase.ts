/** The progress of a request, kept in a value of the caller, since a timeout interrupts the transport. */
import { Context } from "effect"

export interface RequestPhase {
  /** Whether any of the request was written; `undefined` if the transport does not tell. */
  sent: boolean | undefined
  /** The number of bytes of the response's body so far. */
  receivedBytes: number | undefined
}

/** The progress of the current request (default: not noted). `HttpClient` has no parameter for it. */
export const CurrentRequestPhase = Context.Reference<RequestPhase | undefined>("@roster/http-client/RequestPhase", {
  defaultValue: () => undefined
})
