/** All services of one address and key, on the `HttpClient` that the application provides. */
import { Effect, Layer } from "effect"
import { clientConfig, type ClientOptions } from "./calls/ClientOptions.ts"
import * as HttpContactsService from "./services/HttpContactsService.ts"
import * as HttpCredentialsService from "./services/HttpCredentialsService.ts"
import * as HttpEmailsService from "./services/HttpEmailsService.ts"
import { RosterHttpApi } from "./calls/RosterHttpApi.ts"

/** All services on one client. Each call makes a new client, so that an application can have several. */
export const layer = (options: ClientOptions) =>
  // Without `fresh`, layers are shared, and the first options would win.
  Layer.fresh(
    Layer.mergeAll(HttpContactsService.layerShared, HttpCredentialsService.layerShared, HttpEmailsService.layerShared)
  ).pipe(Layer.provide(RosterHttpApi.layer(options)))

/** All services on one client, with the settings of the environment. */
export const layerConfig = Layer.unwrap(Effect.map(clientConfig, layer))
