/**
 * All services of one address and key, over whatever `HttpClient` the application provides.
 */
import { Effect, Layer } from "effect"
import { clientConfig, type ClientOptions } from "./calls/ClientOptions.ts"
import * as HttpContactsService from "./services/HttpContactsService.ts"
import * as HttpCredentialsService from "./services/HttpCredentialsService.ts"
import * as HttpEmailsService from "./services/HttpEmailsService.ts"
import { RosterHttpApi } from "./calls/RosterHttpApi.ts"

/** Each call gives a client of its own, so that an application can have several: of two accounts, say. */
export const layer = (options: ClientOptions) =>
  // What is made once for a whole graph of layers would be the client of whichever options come first.
  Layer.fresh(
    Layer.mergeAll(HttpContactsService.layerShared, HttpCredentialsService.layerShared, HttpEmailsService.layerShared)
  ).pipe(Layer.provide(RosterHttpApi.layer(options)))

/** The same, from the settings of the environment. */
export const layerConfig = Layer.unwrap(Effect.map(clientConfig, layer))
