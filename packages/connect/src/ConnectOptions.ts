/** What a connection is made of: the service, the options, and what they do to its client. */
import { KnownFields } from "@roster/domain/internal"
import type { ClientOptions, InvalidSettings } from "@roster/http-client"
import type { StoreOptions } from "@roster/server"
import { Effect, Layer, type Redacted } from "effect"
import { HttpClient } from "effect/http"

/** A service over the network, with the key or where it comes from. */
export interface RemoteService<Key = Redacted.Redacted<string>> {
  /** The base address of the service. */
  readonly baseUrl: string
  /** The API key. */
  readonly key: Key
  /** The header of the key (default: that of Roster). */
  readonly apiKeyHeader: string | undefined
  /** What precedes the key in its header (default: nothing). */
  readonly apiKeyPrefix: string | undefined
}

/** What the settings leave open. */
export interface ConnectOptions {
  /** More options of the client of a service over the network. */
  readonly client?: Omit<ClientOptions, "baseUrl" | "apiKey" | "apiKeyHeader" | "apiKeyPrefix"> | undefined
  /** The transport of a service over the network (default: `UndiciHttpClient`, and on Bun `FetchTransport`). */
  readonly transport?: Layer.Layer<HttpClient.HttpClient, InvalidSettings> | undefined
  /** More options of a store in this process. */
  readonly store?: Omit<StoreOptions, "filename"> | undefined
  /** Changes the `HttpClient` of either. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
}

/** Its fields, and the tag of a chosen one. */
export const serviceFields = KnownFields.fieldsOf<RemoteService & { readonly _tag: "Remote" }>("a service", {
  _tag: true,
  baseUrl: true,
  key: true,
  apiKeyHeader: true,
  apiKeyPrefix: true
})

/** Their fields. */
export const connectFields = KnownFields.fieldsOf<ConnectOptions>("a connection", {
  client: true,
  transport: true,
  store: true,
  transformClient: true
})

/** How calls of others reach a service or a store: `roster studio` passes on those of its page. */
export interface Passage<E> {
  /** The base address of the calls; that of a store is never resolved. */
  readonly baseUrl: string
  /** The header with the key of the service, and what stands in it; absent for a store. */
  readonly key?: { readonly header: string; readonly value: Redacted.Redacted<string> } | undefined
  /** What answers the calls. It adds no key. */
  readonly client: Layer.Layer<HttpClient.HttpClient, E>
}

/** Changes the `HttpClient` of a layer, if asked to. */
export const transformed = <E, R>(
  transport: Layer.Layer<HttpClient.HttpClient, E, R>,
  transform: ConnectOptions["transformClient"]
): Layer.Layer<HttpClient.HttpClient, E, R> =>
  transform === undefined
    ? transport
    : Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, transform)).pipe(Layer.provide(transport))
