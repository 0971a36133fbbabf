/**
 * A command that writes to a store of an earlier version. It reads an upgraded copy until its first write, and the store is
 * upgraded by that alone: a command that is refused or declined has changed nothing. (docs/decisions/upgrades.md)
 */
import { Connection } from "@roster/connect"
import type { PostgresOptions, StoreUpgrade } from "@roster/server"
import { Context, Effect, Layer, References } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { Output } from "../terminal/Output.ts"
import { server } from "./EmbeddedStore.ts"

/** Says what an upgrade rewrites, also with `--quiet`. */
const announceUpgrade = (upgrade: StoreUpgrade.Upgrade) =>
  Effect.gen(function* () {
    const { StoreUpgrade } = yield* server
    yield* (yield* Output).noteTarget(StoreUpgrade.upgradeWords(upgrade).join("\n"))
  })

/** Upgrades a store, if it is of an earlier version, after saying so. */
export const upgradeAloud = (store: string | PostgresOptions, options: { readonly copy?: boolean } = {}) =>
  Effect.flatMap(server, ({ StoreUpgrade }) =>
    StoreUpgrade.upgrade(store, { ...options, announce: announceUpgrade })
  ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))

/** The calls that change no contact. */
const readingPosts = ["/contacts/lookup", "/contacts/search", "/contacts/export"]

const isRead = ({ method, url }: HttpClientRequest.HttpClientRequest): boolean =>
  method === "GET" || (method === "POST" && readingPosts.some((path) => url.endsWith(path)))

/** The options of a store that a command writes to. */
type LocalOptions = NonNullable<Parameters<typeof Connection.layerLocal>[1]>

/** All services of a store that a command writes to, which is upgraded with the first write if it is of an earlier version. */
export const layer = (filename: string, options: LocalOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { StoreUpgrade } = yield* server
      const pending = yield* StoreUpgrade.prepare(filename, { announce: announceUpgrade })
      if (pending === undefined) return Connection.layerLocal(filename, options)
      const scope = yield* Effect.scope
      let isUpgraded = false
      const upgraded = yield* Effect.cached(
        Effect.gen(function* () {
          yield* pending.carryOut
          const { client } = yield* Connection.passageLocal(filename, { store: options.store })
          const context = yield* Layer.buildWithScope(client, scope)
          isUpgraded = true
          return Context.get(context, HttpClient.HttpClient)
        }).pipe(
          // It could be upgraded a moment ago. A client has no error for it, and the command reports this one as it is.
          Effect.orDie
        )
      )
      const switching = (preview: HttpClient.HttpClient) =>
        HttpClient.make((request) =>
          isRead(request) && !isUpgraded
            ? preview.execute(request)
            : Effect.flatMap(upgraded, (client) => client.execute(request))
        )
      const { transformClient: observe = (client) => client } = options
      return Connection.layerLocal(pending.preview, {
        ...options,
        transformClient: (client) => observe(switching(client))
      })
    })
  )
