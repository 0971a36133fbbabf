/** Plays a fault plan in front of the service, so that clients in any language can be tested against it. */
import { versionSegment } from "@roster/api"
import { FaultPlan } from "@roster/domain"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Data, Duration, Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { ServerResponse } from "node:http"
import { TLSSocket } from "node:tls"
import { errorResponse, servedApi } from "./http/Routes.ts"

/** Finds the operation of a request. The file of an export is no operation of the contract. */
const makeFind = () => {
  const endpoints = Object.values(servedApi.groups).flatMap((group) =>
    Object.values(group.endpoints).map((endpoint: HttpApiEndpoint.Top) => endpoint)
  )
  // The keys of `operations`.
  const names = Object.keys(FaultPlan.operations) as ReadonlyArray<FaultPlan.Operation>
  const routes = names.map((name) => {
    const endpoint = endpoints.find(({ identifier }) => identifier === FaultPlan.operations[name])
    const { method, path } = endpoint ?? { method: "GET", path: `/${versionSegment}/exports/:key/:name` }
    return { name, method, pattern: new RegExp(`^${path.replace(/:[^/]+/g, "[^/]+")}$`) }
  })
  return (method: string, url: string): FaultPlan.Planned | undefined => {
    const [path = "", query = ""] = url.split("?", 2)
    const name = routes.find((route) => route.method === method && route.pattern.test(path))?.name
    return name && FaultPlan.plannedAs(name, new URLSearchParams(query).get("dryRun") === "true")
  }
}

const refused = (status: number, text: string, retryAfter: number | undefined) => {
  const response = errorResponse(status, text)
  return retryAfter === undefined ? response : HttpServerResponse.setHeader(response, "retry-after", `${retryAfter}`)
}

/** How a connection breaks. */
export interface FaultyConnection<E> {
  /** Loses the response. */
  readonly reset: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<never, E>
  /** Loses the second half of the body. */
  readonly cutBody: (
    request: HttpServerRequest.HttpServerRequest,
    response: HttpServerResponse.HttpServerResponse
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E>
}

/** The whole body. One that is no stream is there at once, so that a clock of a test need not wait for it. */
const bodyOf = (response: HttpServerResponse.HttpServerResponse): Effect.Effect<Uint8Array> =>
  Effect.map(Effect.orDie(HttpServerResponse.toClientResponse(response).arrayBuffer), (bytes) => new Uint8Array(bytes))

/** Resets the connection. The end of the connection interrupts the request, which has no response. */
const reset = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.andThen(
    Effect.sync(() => {
      const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
      // Node resets plain connections only.
      if (socket instanceof TLSSocket) socket.destroy()
      else socket.resetAndDestroy()
    }),
    Effect.never
  )

/** Connections over a socket. */
export const overSocket: FaultyConnection<never> = {
  reset,
  cutBody: Effect.fnUntraced(function* (request, response) {
    const body = yield* bodyOf(response)
    const out = NodeHttpServerRequest.toServerResponse(request)
    if (body.length < 2 || !(out instanceof ServerResponse)) return yield* reset(request)
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    for (const [name, value] of Object.entries(response.headers)) out.setHeader(name, value)
    out.setHeader("content-length", body.length)
    out.writeHead(response.status)
    out.write(body.subarray(0, body.length >> 1), () => socket.destroySoon())
    return yield* Effect.never
  })
}

/** What a client in the same process sees in place of a connection that was reset. */
export class ConnectionReset extends Data.TaggedError("ConnectionReset") {}

/** Calls in the same process. */
export const inProcess: FaultyConnection<ConnectionReset> = {
  reset: () => new ConnectionReset(),
  cutBody: Effect.fnUntraced(function* (_, response) {
    const body = yield* bodyOf(response)
    if (body.length < 2) return yield* new ConnectionReset()
    const half = Stream.succeed(body.subarray(0, body.length >> 1))
    return HttpServerResponse.stream(Stream.concat(half, Stream.fail(new ConnectionReset())), {
      status: response.status,
      headers: response.headers,
      contentLength: body.length
    })
  })
}

/** Wraps the service; the plan begins with it. */
export const withFaults = <E2>(plan: FaultPlan.FaultPlan, { cutBody, reset }: FaultyConnection<E2>) => {
  const next = FaultPlan.begin(plan)
  const find = makeFind()
  return <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request): Effect.Effect<HttpServerResponse.HttpServerResponse, E | E2, R> => {
        const operation = find(request.method, request.url)
        const given = operation === undefined ? undefined : next(operation)
        switch (given?.fault) {
          case undefined:
            return app
          case "RateLimited":
            return Effect.succeed(refused(429, "The fault plan limits the rate of this call.", given.retryAfter))
          case "Unavailable":
            return Effect.succeed(refused(503, "The fault plan makes this call unavailable.", given.retryAfter))
          case "Unauthorized":
            return Effect.succeed(refused(401, "The fault plan refuses the key of this call.", undefined))
          case "CutBefore":
            return Effect.interruptible(reset(request))
          case "CutAfter":
            return Effect.andThen(app, Effect.interruptible(reset(request)))
          case "CutBody":
            return Effect.flatMap(app, (response) => Effect.interruptible(cutBody(request, response)))
          case "Delay":
            return Effect.andThen(Effect.interruptible(Effect.sleep(Duration.seconds(given.seconds))), app)
        }
      }
    )
}
