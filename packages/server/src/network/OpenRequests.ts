/**
 * What is known of a request until its answer has ended. Who ends a request early interrupts its fiber here, whose scopes give
 * back all that it holds: bytes, places, turns and files. (docs/limits.md)
 */
import { Context, Effect, type Fiber } from "effect"
import { HttpServerError, HttpServerRequest } from "effect/http"
import type { Full } from "../threads/Quota.ts"

/** The connection that carries a request. */
export interface Carrier {
  /** Counts the request for an account until its answer has ended, and gives the bound that leaves no room. */
  readonly countFor: (account: string) => Full | undefined
  /** Since when the request waits for its client; `undefined` if the client waits for the answer. */
  readonly waitsSince: () => number | undefined
  /** Ends the request, so that others have room. */
  readonly endForOthers: () => void
}

/** A request whose answer has not ended. */
export class OpenRequest {
  /** The account whose key came with it. */
  account: string | undefined
  /** Since when it sends the file of an import. */
  uploadSince: number | undefined
  /** What answers it. */
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  readonly carrier: Carrier | undefined

  constructor(carrier?: Carrier) {
    this.carrier = carrier
  }

  /** Stops what answers it, unless that has ended. */
  interrupt(): void {
    this.fiber?.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
  }
}

type Source = Pick<HttpServerRequest.HttpServerRequest, "source">

const requests = new WeakMap<object, OpenRequest>()

/** Notes that a request has begun. */
export const open = (source: object, carrier?: Carrier): OpenRequest => {
  const request = new OpenRequest(carrier)
  requests.set(source, request)
  return request
}

/** What is known of a request; `undefined` if it came by no connection. */
export const openRequest = ({ source }: Source): OpenRequest | undefined => requests.get(source)

/** Binds the fiber that answers a request to its connection. */
export const boundToConnection = <A, E, R>(
  app: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.withFiber((fiber) => {
    const known = openRequest(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest))
    if (known !== undefined) known.fiber = fiber
    return app
  })

/** Notes whose request it is, and gives the bound that leaves no room for it. */
export const admit = (account: string, request: Source): Full | undefined => {
  const known = openRequest(request) ?? open(request.source)
  known.account = account
  return known.carrier?.countFor(account)
}

/** The account with whose key a request came, if it came with one. */
export const accountOf = (request: Source): string | undefined => openRequest(request)?.account

/** Lets the body of a request take longer as long as it keeps coming. */
export const allowSlowBody = (request: Source): void => {
  const known = openRequest(request)
  if (known !== undefined) known.uploadSince = performance.now()
}
