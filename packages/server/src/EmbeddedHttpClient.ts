/** An `HttpClient` on a service in this process; it needs no key, since access to the file is permission enough. */
import { type FaultPlan } from "@roster/domain"
import { redactSpans } from "@roster/domain/internal"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer, type Scope } from "effect"
import { Etag, HttpClient, HttpClientError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller } from "./credentials/Caller.ts"
import { ConnectionReset, inProcess, withFaults } from "./FaultyApp.ts"
import { httpApp } from "./http/HttpApp.ts"
import { layerForHttp } from "./services/HttpServices.ts"
import type { StoreError } from "./store/sqlite/StoreError.ts"
import { InProcess } from "./store/StoreFailure.ts"
import type { StoreOptions } from "./store/StoreOptions.ts"

/** The base address for the client; it is never resolved. */
export const baseUrl = "http://roster.localhost/v4"

/** The store, and how calls of it fail. */
export interface EmbeddedOptions extends StoreOptions {
  /**
   * The calls that go wrong, to test programs over the HTTP client with its retries (default: none). Each attempt of the
   * client is a call.
   */
  readonly faults?: FaultPlan.FaultPlan | undefined
}

const make = Effect.fnUntraced(function* (faults: FaultPlan.FaultPlan | undefined) {
  const served = yield* httpApp
  const app = faults === undefined ? served : withFaults(faults, inProcess)(served)
  const services =
    yield* Effect.context<Exclude<Effect.Services<typeof app>, HttpServerRequest.HttpServerRequest | Scope.Scope>>()
  return HttpClient.make((request) =>
    app.pipe(
      Effect.provideService(InProcess, true),
      Effect.updateService(Caller, (caller) => ({ ...caller, serviceUrl: () => baseUrl })),
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(request)),
      Effect.scoped,
      redactSpans(),
      Effect.provideContext(services),
      Effect.catch((cause) =>
        cause instanceof ConnectionReset
          ? Effect.fail(
              new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
            )
          : Effect.die(cause)
      ),
      Effect.map((response) => HttpServerResponse.toClientResponse(response, { request }))
    )
  )
})

/** Provides an `HttpClient` that answers from the service on a store. */
export const layer = ({ faults, ...store }: EmbeddedOptions): Layer.Layer<HttpClient.HttpClient, StoreError> =>
  Layer.effect(HttpClient.HttpClient, make(faults)).pipe(
    Layer.provide(layerForHttp(store, true)),
    Layer.provide(Layer.mergeAll(NodeHttpPlatform.layer, Etag.layerWeak, NodeFileSystem.layer, NodePath.layer))
  )
