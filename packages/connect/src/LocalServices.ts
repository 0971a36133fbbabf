/** The services of a store in this process. Loaded only if they are chosen. */
import { checkSettings, RosterClient } from "@roster/http-client"
import * as EmbeddedHttpClient from "@roster/server/EmbeddedHttpClient"
import type { StoreError } from "@roster/server"
import { Effect, Layer } from "effect"
import { connectFields, type ConnectOptions, type Passage, transformed } from "./ConnectOptions.ts"

export const layer = (filename: string, options: ConnectOptions) => {
  const { store, transformClient } = options
  const embedded = EmbeddedHttpClient.layer({ ...store, filename })
  // The store itself waits for locks; a retry would wait as long again.
  const services = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts: 1 } }).pipe(
    Layer.provide(transformed(embedded, transformClient))
  )
  return Layer.unwrap(Effect.as(checkSettings(connectFields, options), services))
}

export const passage = (filename: string, options: ConnectOptions) =>
  Effect.map(checkSettings(connectFields, options), (): Passage<StoreError> => {
    const { store, transformClient } = options
    return {
      baseUrl: EmbeddedHttpClient.baseUrl,
      client: transformed(EmbeddedHttpClient.layer({ ...store, filename }), transformClient)
    }
  })
