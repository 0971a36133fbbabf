/**
 * The embedded store: the same client as over the network, answered in this process, without a socket and without a key.
 */
import { RosterClient } from "@roster/http-client"
import * as EmbeddedHttpClient from "@roster/server/EmbeddedHttpClient"
import { Effect, Layer, References } from "effect"
import { storeFile } from "./EmbeddedStore.ts"
import { dryRunClient } from "./DryRunClient.ts"
import { Target } from "./Target.ts"

export const layer = (given: string | undefined, { dryRun }: { readonly dryRun: boolean }) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const filename = yield* storeFile(given)
      const embedded = EmbeddedHttpClient.layer({ filename })
      // A store waits itself for whoever holds it: to ask again would be to wait as long again.
      return RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts: 1 } }).pipe(
        Layer.provide(dryRun ? Layer.provide(dryRunClient, embedded) : embedded),
        // What goes wrong reaches the user as an error; the log of a service is for whoever runs one.
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
        Layer.merge(Layer.succeed(Target, { name: `[local] ${filename}` }))
      )
    })
  )
