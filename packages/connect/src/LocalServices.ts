/** The services of a store in this process. Loaded only if they are chosen. */
import { RosterClient } from "@roster/http-client"
import * as EmbeddedHttpClient from "@roster/server/EmbeddedHttpClient"
import { Layer } from "effect"
import { type ConnectOptions, transformed } from "./ConnectOptions.ts"

export const layer = (filename: string, { store, transformClient }: ConnectOptions) =>
  // The store itself waits for locks; a retry would wait as long again.
  RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts: 1 } }).pipe(
    Layer.provide(transformed(EmbeddedHttpClient.layer({ ...store, filename }), transformClient))
  )
