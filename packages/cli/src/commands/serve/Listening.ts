/**
 * The service that `roster serve` runs, once it listens. The server is loaded only for it.
 */
import type { IpRange } from "@roster/domain"
import { Context, Effect, Layer, Redacted, Ref, Stream } from "effect"
import { createLine } from "../../files/AtomicFile.ts"
import { defaultStore } from "../../target/EmbeddedStore.ts"
import { Output } from "../../terminal/Output.ts"
import { environment, flags } from "../../settings/Settings.ts"
import { usageError } from "../../errors/UsageError.ts"

export class Listening extends Context.Service<Listening, { readonly address: string }>()("@roster/cli/Listening") {}

export interface ServeInput {
  readonly port: number
  readonly host: string
  readonly keyFile: string | undefined
  readonly allowedSenders: ReadonlyArray<string>
  readonly allowFileUrl: ReadonlyArray<string>
  readonly trustedProxies: ReadonlyArray<IpRange>
}

/** A server has a store and no address of another service. What the environment says of one is for other commands. */
const storeFile = Effect.gen(function* () {
  const { apiKeyFile, apiKeyHeader, apiKeyPrefix, baseUrl, db } = yield* flags
  if ([baseUrl, apiKeyFile, apiKeyHeader, apiKeyPrefix].some((flag) => flag !== undefined)) {
    return yield* usageError(
      "serve is the service itself: --base-url and the --api-key flags say nothing to it.",
      "Name its store with --db and its address with --host and --port."
    )
  }
  return db ?? (yield* Effect.orDie(environment)).db ?? (yield* defaultStore)
})

/** The key of a new store, to a file or as a line before the one that says that it listens. */
const handOver = (keyFile: string | undefined) =>
  Effect.fnUntraced(function* (key: Redacted.Redacted<string>) {
    if (keyFile !== undefined) return yield* createLine(keyFile, Redacted.value(key))
    const output = yield* Output
    yield* output.note("The next line is the administrator key of this new store. It is shown this once.")
    yield* output.write(Stream.make(`${Redacted.value(key)}\n`))
  })

const keysAreThere = (keyFile: string, store: string): string =>
  `This store has API keys already, so nothing was written to ${keyFile}. Another key is made by: roster apikeys create NAME --access LEVEL --db ${store}`

export const layer = ({ allowedSenders, allowFileUrl, host, keyFile, port, trustedProxies }: ServeInput) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const filename = yield* storeFile
      const isNew = yield* Ref.make(false)
      const { RosterServer } = yield* Effect.promise(() => import("@roster/server"))
      const server = RosterServer.layer({
        host,
        port,
        store: { filename, allowedSenders, allowFileUrl },
        trustedProxies,
        onAdministratorKey: (key) => Effect.andThen(handOver(keyFile)(key), Ref.set(isNew, true))
      })
      const listening = Effect.gen(function* () {
        const service = yield* RosterServer.RosterServer
        if (keyFile !== undefined && !(yield* Ref.get(isNew)))
          yield* (yield* Output).note(keysAreThere(keyFile, filename))
        return service
      })
      return Layer.provide(Layer.effect(Listening, listening), server)
    })
  )
