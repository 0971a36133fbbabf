/**
 * The embedded store: the same client as over the network, answered in this process, without a socket and without a key.
 */
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Layer, References } from "effect"
import { defaultStore } from "./LocalStore.ts"
import { Output } from "./Output.ts"
import { Target } from "./Target.ts"

/**
 * Without a file it is the store of the user's data folder, and says so, since somebody may have meant a real service.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (given: string | undefined) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const output = yield* Output
      const filename = given ?? (yield* defaultStore)
      if (given === undefined) yield* output.note(`[local] ${filename}`)
      return RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
        Layer.provide(EmbeddedHttpClient.layer({ filename })),
        // What goes wrong reaches the user as an error; the log of a service is for whoever runs one.
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
        Layer.merge(Layer.succeed(Target, { name: `[local] ${filename}` }))
      )
    })
  )
