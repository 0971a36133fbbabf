/** The embedded store: the same client as over the network, answered in this process, without a socket or a key. */
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
      // The store itself waits for locks; a retry would wait as long again.
      return RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts: 1 } }).pipe(
        Layer.provide(dryRun ? Layer.provide(dryRunClient, embedded) : embedded),
        // Failures reach the user as errors; the log is for operators.
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
        Layer.merge(Layer.succeed(Target, { name: `[local] ${filename}` }))
      )
    })
  )
