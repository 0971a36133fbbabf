/**
 * What a command works on, as the three services. Only the one that is needed is loaded: the client with its transport, or
 * the embedded store behind the same client.
 */
import { Context, Effect, Layer } from "effect"
import { settings, Settings } from "../settings/Settings.ts"

/** The name of the service or store, as messages and questions have it. */
export class Target extends Context.Service<Target, { readonly name: string }>()("@roster/cli/Target") {}

/** For a command that changes something, and may be told to show what it would send. */
export const layerForWrites = ({ dryRun }: { readonly dryRun: boolean }) =>
  Layer.unwrap(
    Effect.map(
      settings,
      Settings.$match({
        Remote: (remote) =>
          Layer.unwrap(
            Effect.map(
              Effect.promise(() => import("./RemoteTarget.ts")),
              ({ layer }) => layer(remote, { dryRun })
            )
          ),
        Local: ({ filename }) =>
          Layer.unwrap(
            Effect.map(
              Effect.promise(() => import("./LocalTarget.ts")),
              ({ layer }) => layer(filename, { dryRun })
            )
          )
      })
    )
  )

export const layer = layerForWrites({ dryRun: false })
