/** Provides the services from the target that the settings name, and loads only the code of that target. */
import { Connection } from "@roster/connect"
import { DownloadNotice } from "@roster/domain"
import type { InvalidSettings } from "@roster/http-client"
import type { StoreError } from "@roster/server"
import { Effect, Exit, FileSystem, Layer, Path, Redacted, References } from "effect"
import { temporaryPath } from "../files/TemporaryFile.ts"
import { keyFrom, keyOrigin, KeySource, maskedKey, MissingKey } from "../settings/ApiKeySource.ts"
import { readConfig } from "../settings/ConfigFile.ts"
import * as GlobalFlags from "../settings/GlobalFlags.ts"
import type { Profile } from "../settings/Profile.ts"
import { originOf, settings, type Settings, unnamedProfile } from "../settings/Settings.ts"
import { Output } from "../terminal/Output.ts"
import { defaultStorePath, memory, server, storeExists, storeFile, storeToOpen } from "./EmbeddedStore.ts"
import * as OlderStore from "./OlderStore.ts"
import { type ForWrites, Target } from "./Target.ts"

const debugOptions = Effect.gen(function* () {
  if (!(yield* GlobalFlags.debugHttp)) return {}
  const { debugClient } = yield* Effect.promise(() => import("./DebugClient.ts"))
  return { transformClient: debugClient(yield* Output) }
})

/** Failures reach the user as errors; the log is for operators. */
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

type Remote = Extract<Settings, { readonly _tag: "Remote" }>

/** Fails with the flag, variable or profile that a refused setting is from. */
const withOrigin = Effect.fnUntraced(function* (error: InvalidSettings, givenBy: string | undefined) {
  return yield* error.readFrom(error.setting === "apiKey" ? givenBy : yield* originOf(error.setting))
})

const withoutSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, "").toLowerCase()

/** The protected profile of a service, by whatever way its address was given. */
const protectedProfile = (baseUrl: string) =>
  Effect.map(readConfig, ({ profiles }) => {
    const isOf = (profile: Profile) =>
      profile.protected === true && withoutSlash(profile.baseUrl) === withoutSlash(baseUrl)
    return Object.entries(profiles).find(([, profile]) => isOf(profile))?.[0]
  })

const remoteTarget = ({ baseUrl }: Pick<Remote, "baseUrl">) =>
  Effect.map(protectedProfile(baseUrl), (protectedBy) => Target.of({ name: baseUrl, protectedBy }))

const layerRemote = ({ key: source, ...on }: Remote, givenBy?: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const key = yield* keyFrom(source)
      if (Redacted.value(key).trim() === "") {
        return yield* new MissingKey({ message: "The API key is empty.", baseUrl: on.baseUrl })
      }
      return Connection.layerRemote({ ...on, key }, yield* debugOptions)
    })
  ).pipe(
    Layer.catchTag("InvalidSettings", (error) => Layer.effectContext(withOrigin(error, givenBy))),
    Layer.merge(Layer.effect(Target, remoteTarget(on))),
    Layer.merge(
      Layer.effect(
        DownloadNotice,
        Output.use(({ note }) => Effect.succeed(note))
      )
    )
  )

/** Notes the profile in use when no flag or variable chose it: it may be another one than the user expects. */
const announced = Effect.fnUntraced(function* ({ baseUrl }: Remote) {
  const profile = yield* unnamedProfile
  if (profile !== undefined) yield* (yield* Output).noteTarget(`[${profile}] ${baseUrl}`)
})

/** A local store sends no mail, so that any sender may be tried. */
const store = { allowedSenders: ["any"] }

/**
 * The store of a command that changes no contact, and leaves a job in it. Of one that this user may only read, a copy has the
 * job, which goes with the command.
 */
const previewed = Effect.fnUntraced(function* (filename: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const isWritable = Effect.forEach([filename, path.dirname(filename)], (file) => fs.access(file, { writable: true }))
  const isThere = filename !== memory && (yield* storeExists(filename))
  if (!isThere || Exit.isSuccess(yield* Effect.exit(isWritable))) return filename
  const { StoreBackup } = yield* server
  const copy = yield* temporaryPath("store")
  yield* StoreBackup.create({ from: filename, to: copy })
  return copy
})

/** The services of a store file, for what a command does with it. */
const opened = Effect.fnUntraced(function* (
  filename: string,
  options: NonNullable<Parameters<typeof Connection.layerLocal>[1]>,
  { dryRun, previews, reads }: ForWrites
) {
  if (reads === true) return Connection.layerLocal(filename, { ...options, store: { ...store, readOnly: true } })
  if (dryRun === true || previews === true) {
    return Connection.layerLocal(yield* previewed(filename), { ...options, store: { ...store, older: "refuse" } })
  }
  return OlderStore.layer(filename, options)
})

const layerLocal = (given: string | undefined, forWrites: ForWrites) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const path = yield* Path.Path
      const { filename, name } = yield* storeToOpen(given, forWrites)
      const options = { ...(yield* debugOptions), store }
      return (yield* opened(filename, options, forWrites)).pipe(
        Layer.provide(quiet),
        Layer.merge(Layer.succeed(Target, { name: `[local] ${name}`, identity: `[local] ${path.resolve(name)}` }))
      )
    })
  )

/** For a command that changes something. */
export const layerForWrites = (forWrites: ForWrites) =>
  Layer.unwrap(
    Effect.map(
      settings,
      Connection.$match({
        Remote: (on) => Layer.unwrap(Effect.as(announced(on), layerRemote(on, keyOrigin(on.key)))),
        Local: ({ filename }) => layerLocal(filename, forWrites)
      })
    )
  )

export const layer = layerForWrites({})

/** For a command that reads alone. */
export const layerForReads = layerForWrites({ reads: true })

/** How `roster studio` passes calls on to the service or store of the settings, which it makes if it is new. */
export const passage = Effect.gen(function* () {
  const on = yield* settings
  const options = yield* debugOptions
  if (on._tag === "Remote") {
    const { key: source, ...service } = on
    const opened = Connection.passageRemote({ ...service, key: yield* keyFrom(source) }, options)
    const passage: Connection.Passage<InvalidSettings | StoreError> = yield* Effect.catchTag(
      opened,
      "InvalidSettings",
      (error) => withOrigin(error, keyOrigin(source))
    )
    return { ...passage, target: yield* remoteTarget(on), isStore: false }
  }
  const path = yield* Path.Path
  const name = on.filename ?? (yield* defaultStorePath)
  const target = Target.of({ name: `[local] ${name}`, identity: `[local] ${path.resolve(name)}` })
  const passage: Connection.Passage<InvalidSettings | StoreError> = yield* Connection.passageLocal(name, {
    ...options,
    store
  })
  const opening = Effect.flatMap(storeFile(on.filename), (filename) => OlderStore.upgradeAloud(filename))
  const context = yield* Effect.context<Effect.Services<typeof opening>>()
  const client = Layer.unwrap(Effect.as(Effect.provideContext(opening, context), Layer.provide(passage.client, quiet)))
  return { ...passage, client, target, isStore: true }
})

/** A service, called with this key instead of the configured one. */
export const layerWithKey = (
  { apiKeyHeader, apiKeyPrefix, baseUrl }: Connection.Given & { readonly baseUrl: string },
  key: Redacted.Redacted<string>
) => {
  const source = KeySource.Environment({ key })
  return layerRemote(Connection.Remote({ baseUrl, key: source, apiKeyHeader, apiKeyPrefix }))
}

/** Reads a key once, since stdin or a password prompt cannot repeat; gives its visible part, source and services. */
export const openKey = Effect.fnUntraced(function* (remote: Remote) {
  const key = yield* keyFrom(remote.key)
  return {
    shown: maskedKey(Redacted.value(key)),
    source: keyOrigin(remote.key),
    services: layerWithKey(remote, key)
  }
})
