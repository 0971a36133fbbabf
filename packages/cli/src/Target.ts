/**
 * What a command works on, as the three services. Only the one that is needed is loaded: the client with its transport, or
 * the embedded store behind the same client.
 */
import { Context, Effect, Layer } from "effect"
import { environment, flags, resolve, Settings } from "./Settings.ts"

/**
 * The name of the service or store, as messages and questions have it.
 *
 * @category services
 * @since 0.1.0
 */
export class Target extends Context.Service<Target, { readonly name: string }>()("@roster/cli/Target") {}

const settings = Effect.gen(function* () {
  return yield* Effect.fromResult(resolve(yield* flags, yield* Effect.orDie(environment)))
})

/**
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.unwrap(
  Effect.map(
    settings,
    Settings.$match({
      Remote: (remote) =>
        Layer.unwrap(
          Effect.map(
            Effect.promise(() => import("./RemoteTarget.ts")),
            ({ layer }) => layer(remote)
          )
        ),
      Local: ({ filename }) =>
        Layer.unwrap(
          Effect.map(
            Effect.promise(() => import("./LocalTarget.ts")),
            ({ layer }) => layer(filename)
          )
        )
    })
  )
)
