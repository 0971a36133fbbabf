/** An `HttpClient` on a service in this process; it needs no key, since access to the file is permission enough. */
import { redactSpans } from "@roster/domain"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer, type Scope } from "effect"
import { Etag, HttpClient, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as SqlLocalContacts from "./contacts/SqlLocalContacts.ts"
import { Caller } from "./credentials/Caller.ts"
import { httpApp } from "./http/HttpApp.ts"
import { layerForHttp, type StoreError } from "./services/SqlServices.ts"
import { InProcess } from "./store/StoreFailure.ts"
import type { StoreOptions } from "./store/StoreOptions.ts"

/** The base address for the client; it is never resolved. */
export const baseUrl = "http://roster.localhost/v4"

const make = Effect.gen(function* () {
  const app = yield* httpApp
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
      Effect.orDie,
      Effect.map((response) => HttpServerResponse.toClientResponse(response, { request }))
    )
  )
})

/** Provides an `HttpClient` that answers from the service on a store, and the `LocalContacts` of that store. */
export const layer = (options: StoreOptions): Layer.Layer<HttpClient.HttpClient, StoreError> =>
  Layer.merge(Layer.effect(HttpClient.HttpClient, make), SqlLocalContacts.layer).pipe(
    Layer.provide(layerForHttp(options, true)),
    Layer.provide(Layer.mergeAll(NodeHttpPlatform.layer, Etag.layerWeak, NodeFileSystem.layer, NodePath.layer))
  )
