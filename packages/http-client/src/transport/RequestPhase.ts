/**
 * How far an attempt is, as far as its transport says: a box in the context that the transport fills. It is what a timeout
 * is judged by.
 */
import { Context } from "effect"
import type { HttpClient } from "effect/http"

export interface Progress {
  /** Whether any of the request was written; `undefined` where the transport does not say. */
  sent: boolean | undefined
  receivedBytes: number | undefined
  /** Whether its time is over. Only looked at by transports that end by themselves. */
  expired: boolean
  /** What the transport is doing for it, which can be ended from outside. */
  exchange: { readonly over: boolean; expire(): void } | undefined
}

export const RequestPhase = Context.Reference<Progress | undefined>("@roster/http-client/RequestPhase", {
  defaultValue: () => undefined
})

const endingThemselves = new WeakSet<HttpClient.HttpClient>()

/**
 * Says of a transport that it fails by itself, at once and with its connection closed, when the exchange that it put into
 * the box expires. It is then bounded without a fiber of its own. What wraps the transport does not inherit that.
 */
export const endsItself = (client: HttpClient.HttpClient): HttpClient.HttpClient => {
  endingThemselves.add(client)
  return client
}

export const isEndingItself = (client: HttpClient.HttpClient): boolean => endingThemselves.has(client)
