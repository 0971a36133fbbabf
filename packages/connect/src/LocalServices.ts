/** The services of a store in this process. Loaded only if they are chosen. */
import { RosterClient } from "@roster/http-client"
import * as EmbeddedHttpClient from "@roster/server/EmbeddedHttpClient"
import type { StoreError } from "@roster/server"
import { Layer } from "effect"
import { type ConnectOptions, type Passage, transformed } from "./ConnectOptions.ts"

export const layer = (filename: string, { store, transformClient }: ConnectOptions) => {
  const embedded = EmbeddedHttpClient.layer({ ...store, filename })
  // The store itself waits for locks; a retry would wait as long again.
  return RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts: 1 } }).pipe(
    Layer.provide(transformed(embedded, transformClient))
  )
}

export const passage = (filename: string, { store, transformClient }: ConnectOptions): Passage<StoreError> => ({
  baseUrl: EmbeddedHttpClient.baseUrl,
  client: transformed(EmbeddedHttpClient.layer({ ...store, filename }), transformClient)
})
