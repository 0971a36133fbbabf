/** The services over the network. Loaded only if they are chosen. */
import { checkOptions, FetchTransport, type InvalidSettings, RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, Layer } from "effect"
import { type ConnectOptions, type Passage, type RemoteService, transformed } from "./ConnectOptions.ts"

/** Bun replaces undici by its own, without dispatchers. */
const ofRuntime = UndiciHttpClient.isSupported ? UndiciHttpClient.layer() : FetchTransport.layer()

export const layer = (
  { apiKeyHeader, apiKeyPrefix, baseUrl, key: apiKey }: RemoteService,
  { client, transformClient, transport = ofRuntime }: ConnectOptions
) =>
  RosterClient.layer({ ...client, baseUrl, apiKey, apiKeyHeader, apiKeyPrefix }).pipe(
    Layer.provide(transformed(transport, transformClient))
  )

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

export const passage = (
  { apiKeyHeader, apiKeyPrefix, baseUrl, key: apiKey }: RemoteService,
  { client, transformClient, transport = ofRuntime }: ConnectOptions
) =>
  Effect.map(
    checkOptions({ ...client, baseUrl, apiKey, apiKeyHeader, apiKeyPrefix }),
    ({ baseUrl, header, headerValue }): Passage<InvalidSettings> => ({
      baseUrl,
      key: headerValue === undefined ? undefined : { header, value: headerValue },
      client: transformed(transport, transformClient)
    })
  )
