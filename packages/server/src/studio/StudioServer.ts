/**
 * The process of `roster studio`: it serves the page to this machine alone, and passes its calls on to a service, whose key
 * the page never gets. (docs/studio.md)
 */
import { KnownFields } from "@roster/domain/internal"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, Redacted, References, type Scope } from "effect"
import { HttpClient, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import { answerWhileStarting, connectionLimits, limitConnections, timeoutsOf } from "../network/Connections.ts"
import { boundToConnection } from "../network/OpenRequests.ts"
import { cannotListen, checkServeOptions, type ServeError } from "../network/ServeError.ts"
import { type ForwardedService, exportsPath, makeForwarding } from "./StudioForwarding.ts"
import { makeStudioGuard, refuse } from "./StudioGuard.ts"
import { cannotShow, readStudioPage, type StudioPageOptions } from "./StudioPage.ts"

export type { ForwardedService, StudioPageOptions }

/** What the page tells its reader that it shows. */
export interface StudioTarget {
  /** The name of the service or store. */
  readonly name: string
  /** Its address or absolute path, which records of runs name if it tells no id. */
  readonly identity: string
  /** Whether it is a store on this machine. */
  readonly isStore: boolean
  /** The version of Roster. */
  readonly version: string
  /** What a command line needs to mean the same target. */
  readonly flags: string
  /** The protected profile of the service, whose name the page asks for before anything is deleted. */
  readonly protectedBy?: string | undefined
}

/** The page, and what it shows. */
export interface StudioOptions<E> {
  /** The built page. */
  readonly page: StudioPageOptions
  /** The port on the loopback interface (default: any free port). */
  readonly port?: number | undefined
  /** What the page tells its reader that it shows. */
  readonly target: StudioTarget
  /** The service to which calls are passed on. */
  readonly service: ForwardedService
  /** Leads to the service, and follows no redirects. It is opened once the port is taken, as a store is made by that. */
  readonly client: Layer.Layer<HttpClient.HttpClient, E>
  /** Answers the page at `/studio/calls`, such as `servePage` of `@roster/workflows/PageServer` (default: nothing does). */
  readonly calls?:
    | Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>
    | undefined
}

const optionFields = KnownFields.fieldsOf<StudioOptions<unknown>>("a page", {
  page: true,
  port: true,
  target: true,
  service: true,
  client: true,
  calls: true
})

/** A page that is served to this machine. */
export class StudioServer extends Context.Service<
  StudioServer,
  {
    /** The address of the page without its key. */
    readonly address: string
    /** The address to open, whose fragment has the key of the page. */
    readonly addressToOpen: Redacted.Redacted<string>
  }
>()("@roster/server/StudioServer") {}

/** A browser has six connections. */
const limits = { ...connectionLimits, total: 128, byAddress: 128 }

const host = "127.0.0.1"

/** On every answer but those of the page, which have their own. */
const elsewhere = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const make = Effect.fnUntraced(function* <E>(options: StudioOptions<E>) {
  yield* checkServeOptions(optionFields, options)
  const { calls, client, page: given, port = 0, service, target } = options
  const page = yield* readStudioPage(given).pipe(cannotShow(given))
  const nodeServer = createServer(timeoutsOf(limits))
  limitConnections(nodeServer, limits, [])
  const close = nodeServer.close.bind(nodeServer)
  // The page waits on a connection for as long as it works on a run.
  nodeServer.close = (callback) => {
    const closed = close(callback)
    nodeServer.closeAllConnections()
    return closed
  }
  answerWhileStarting(nodeServer)
  const server = yield* NodeHttpServer.make(() => nodeServer, { host, port }).pipe(cannotListen(host, port))
  const bound = nodeServer.address()
  if (bound === null || typeof bound === "string") return yield* Effect.die("A TCP server has a port.")
  const address = new URL(`http://${host}:${bound.port}/`)
  const key = Redacted.make(randomBytes(32).toString("base64url"), { label: "key of the page" })
  const guard = makeStudioGuard(bound.port, key)
  const opened = Context.get(yield* Layer.build(client), HttpClient.HttpClient)
  const forwarding = makeForwarding(opened, service, address.origin)

  const asset = ({ headers, url }: HttpServerRequest.HttpServerRequest) =>
    page.asset(url.slice("/assets/".length), headers["accept-encoding"]) ??
    Effect.succeed(refuse(404, "The page has no such file."))

  const answer = (request: HttpServerRequest.HttpServerRequest) => {
    const { method, url } = request
    const path = url.split("?", 1)[0] ?? ""
    const isRead = method === "GET" || method === "HEAD"
    const open =
      path === "/"
        ? Effect.succeed(page.index)
        : path.startsWith("/assets/")
          ? asset(request)
          : path.startsWith(exportsPath)
            ? forwarding.file(request)
            : undefined
    const isOpen = isRead && open !== undefined
    const refusal = guard.refusal(request, !isOpen)
    if (refusal !== undefined) return Effect.succeed(refusal)
    if (isOpen) return open
    if (/^\/v4(?:\/|$)/.test(path)) return forwarding.call(request)
    if (isRead && path === "/studio/target") return Effect.succeed(HttpServerResponse.jsonUnsafe(target))
    if (calls !== undefined && /^\/studio\/calls\/?$/.test(path)) return calls
    return Effect.succeed(refuse(404, "There is nothing at this path."))
  }

  const app = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.interruptible(answer(request)).pipe(
      // What went wrong may quote the request. A body that cannot be read, or is too large, has an answer of its own.
      Effect.catchDefect((defect) =>
        HttpServerRespondable.toResponseOrElseDefect(defect, refuse(500, "The page could not be answered."))
      ),
      Effect.map((response) => HttpServerResponse.setHeaders(response, { ...elsewhere, ...response.headers }))
    )
  )
  // No span names a path, which may hold the address of a person.
  yield* server.serve(boundToConnection(app)).pipe(Effect.provideService(References.TracerEnabled, false))
  return StudioServer.of({
    address: address.href,
    addressToOpen: Redacted.make(`${address.href}#session=${Redacted.value(key)}`, { label: "address with a key" })
  })
})

/** Serves the page until the scope closes. */
export const layer = <E>(options: StudioOptions<E>): Layer.Layer<StudioServer, ServeError | E> =>
  Layer.effect(StudioServer, make(options)).pipe(Layer.provide(NodeHttpServer.layerHttpServices))
