/** The services over the network. Loaded only if they are chosen. */
import { checkOptions, checkSettings, FetchTransport, type InvalidSettings, RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, Layer } from "effect"
import {
  connectFields,
  type ConnectOptions,
  type Passage,
  type RemoteService,
  serviceFields,
  transformed
} from "./ConnectOptions.ts"

/** Bun replaces undici by its own, without dispatchers. */
const ofRuntime = UndiciHttpClient.isSupported ? UndiciHttpClient.layer() : FetchTransport.layer()

const checked = (on: RemoteService, options: ConnectOptions) =>
  Effect.andThen(checkSettings(serviceFields, on), checkSettings(connectFields, options))

export const layer = (on: RemoteService, options: ConnectOptions) => {
  const { apiKeyHeader, apiKeyPrefix, baseUrl, key: apiKey } = on
  const { client, transformClient, transport = ofRuntime } = options
  const services = RosterClient.layer({ ...client, baseUrl, apiKey, apiKeyHeader, apiKeyPrefix }).pipe(
    Layer.provide(transformed(transport, transformClient))
  )
  return Layer.unwrap(Effect.as(checked(on, options), services))
}

/** The variables of the settings that a client may refuse. */
const variables: Readonly<Record<string, string>> = {
  baseUrl: "ROSTER_BASE_URL",
  apiKey: "ROSTER_API_KEY",
  apiKeyHeader: "ROSTER_API_KEY_HEADER",
  apiKeyPrefix: "ROSTER_API_KEY_PREFIX"
}

/** The services of a client with settings of the environment, whose variables the errors name. */
export const layerFromEnvironment = (on: RemoteService, options: ConnectOptions) =>
  Layer.catchTag(layer(on, options), "InvalidSettings", (error) =>
    Layer.effectContext(Effect.fail(error.readFrom(variables[error.setting])))
  )

export const passage = (on: RemoteService, options: ConnectOptions) => {
  const { apiKeyHeader, apiKeyPrefix, baseUrl, key: apiKey } = on
  const { client, transformClient, transport = ofRuntime } = options
  return Effect.map(
    Effect.andThen(checked(on, options), checkOptions({ ...client, baseUrl, apiKey, apiKeyHeader, apiKeyPrefix })),
    ({ baseUrl, header, headerValue }): Passage<InvalidSettings> => ({
      baseUrl,
      key: headerValue === undefined ? undefined : { header, value: headerValue },
      client: transformed(transport, transformClient)
    })
  )
}
