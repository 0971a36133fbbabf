/**
 * The choice between a service over the network and a store in this process, by the settings that the command line uses
 * too. Incomplete settings of a service never lead to a local store, or the other way round. Only the code of what was
 * chosen is loaded.
 */
import { TaggedError } from "@roster/domain"
import type { InvalidSettings, RosterClient } from "@roster/http-client"
import type { StoreError } from "@roster/server"
import { Config, Data, Effect, Layer, type Redacted, Result, Schema, SchemaTransformation, Struct } from "effect"
import type { ConnectOptions, Passage, RemoteService } from "./ConnectOptions.ts"

export type { ConnectOptions, Passage, RemoteService } from "./ConnectOptions.ts"

/** Where the services are: at an address with a key, or in a store file; without a file name in the default store. */
export type Connection<Key = Redacted.Redacted<string>> = Data.TaggedEnum<{
  Remote: RemoteService<Key>
  Local: { readonly filename: string | undefined }
}>

/** How `Connection` is made and matched. */
export interface ConnectionDefinition extends Data.TaggedEnum.WithGenerics<1> {
  /** The connection to a service with a key of a kind. */
  readonly taggedEnum: Connection<this["A"]>
}

/** Makes and matches connections. */
export const { $match, Local, Remote } = Data.taggedEnum<ConnectionDefinition>()

/** What is set, with the key or where it comes from. */
export interface Given<Key = Redacted.Redacted<string>> {
  /** The base address of a service. */
  readonly baseUrl?: string | undefined
  /** The API key for the service. */
  readonly apiKey?: Key | undefined
  /** The header of the key (default: that of Roster). */
  readonly apiKeyHeader?: string | undefined
  /** What precedes the key in its header (default: nothing). */
  readonly apiKeyPrefix?: string | undefined
  /** The path of a store, or the address of its PostgreSQL database. */
  readonly db?: string | undefined
  /** Whether a local store is refused. */
  readonly requireRemote?: boolean | undefined
}

const messages = {
  TwoTargets:
    "A service address and a store file are both set, but only one of them can be used. Remove " +
    "ROSTER_BASE_URL or ROSTER_DB.",
  KeyMissing: "The address of a service is set, but no API key for it. Set ROSTER_API_KEY.",
  AddressMissing:
    "An API key, its header or its prefix is set, but no service address. A local store needs no key. Set " +
    "ROSTER_BASE_URL, or unset ROSTER_API_KEY, ROSTER_API_KEY_HEADER and ROSTER_API_KEY_PREFIX.",
  RemoteRequired: "This would use a local store, which ROSTER_REQUIRE_REMOTE forbids. Set ROSTER_BASE_URL.",
  ProfileGiven:
    "ROSTER_PROFILE names a profile, which only the command line reads. Set ROSTER_BASE_URL and ROSTER_API_KEY.",
  NothingGiven:
    "Neither a service nor a store is set. Set ROSTER_BASE_URL and ROSTER_API_KEY for a service, or " +
    "ROSTER_DB for a store file."
} as const

/** The settings do not say which service or store is meant, and none is opened. */
export class UnclearConnection extends TaggedError<UnclearConnection>()("UnclearConnection", {
  /** What is wrong with the settings. */
  problem: Schema.Literals(Struct.keys(messages))
}) {
  override get message(): string {
    return messages[this.problem]
  }
}

/** Decides what is meant. Nothing set is the default store. */
export const choose = <Key>({
  apiKey: key,
  apiKeyHeader,
  apiKeyPrefix,
  baseUrl,
  db: filename,
  requireRemote
}: Given<Key>): Result.Result<Connection<Key>, UnclearConnection> => {
  const refuse = (problem: UnclearConnection["problem"]) => Result.fail(new UnclearConnection({ problem }))
  if (baseUrl !== undefined && filename !== undefined) return refuse("TwoTargets")
  if (baseUrl !== undefined) {
    return key === undefined
      ? refuse("KeyMissing")
      : Result.succeed(Remote({ baseUrl, key, apiKeyHeader, apiKeyPrefix }))
  }
  if (key !== undefined || apiKeyHeader !== undefined || apiKeyPrefix !== undefined) return refuse("AddressMissing")
  return requireRemote === true ? refuse("RemoteRequired") : Result.succeed(Local({ filename }))
}

const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

/** A text, without the line break that files of variables leave at its end. */
const line = (name: string) => Config.map(Config.String(name), (text) => text.replace(/(?<![\r\n])[\r\n]+$/, ""))

const onWords = ["true", "yes", "on", "1", "y"] as const
const offWords = ["false", "no", "off", "0", "n"] as const

const OnOff = Schema.String.pipe(
  Schema.decode(SchemaTransformation.toLowerCase()),
  Schema.decode(SchemaTransformation.trim()),
  Schema.decodeTo(Schema.Literals([...onWords, ...offWords]).annotate({ expected: "true or false" })),
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({
      decode: (word) => onWords.some((on) => on === word),
      encode: (isOn) => (isOn ? "true" : "false")
    })
  )
)

/** A variable that is on or off: `true`, `yes`, `on`, `y` or `1`, or their opposites, in letters of any case. */
export const onOff = (name: string): Config.Config<boolean> => Config.schema(OnOff, name)

/** The settings of the environment. */
export const config = Config.all({
  baseUrl: optional(Config.String("ROSTER_BASE_URL")),
  apiKey: optional(Config.Redacted("ROSTER_API_KEY")),
  apiKeyHeader: optional(Config.String("ROSTER_API_KEY_HEADER")),
  apiKeyPrefix: optional(Config.String("ROSTER_API_KEY_PREFIX")),
  db: optional(line("ROSTER_DB")),
  profile: optional(line("ROSTER_PROFILE")),
  requireRemote: optional(onOff("ROSTER_REQUIRE_REMOTE"))
})

/** All services. */
export type Services = RosterClient.Services

const remoteServices = Effect.promise(() => import("./RemoteServices.ts"))
const localServices = Effect.promise(() => import("./LocalServices.ts"))

/** All services of a service over the network, with the transport of the runtime unless one is given. */
export const layerRemote = (
  on: RemoteService,
  options: Omit<ConnectOptions, "store"> = {}
): Layer.Layer<Services, InvalidSettings> => Layer.unwrap(Effect.map(remoteServices, ({ layer }) => layer(on, options)))

/** All services of a store in this process: the same client, answered without a socket or a key. */
export const layerLocal = (
  filename: string,
  options: Omit<ConnectOptions, "client" | "transport"> = {}
): Layer.Layer<Services, InvalidSettings | StoreError> =>
  Layer.unwrap(Effect.map(localServices, ({ layer }) => layer(filename, options)))

/** How calls are passed on to a service over the network, with the transport of the runtime unless one is given. */
export const passageRemote = (
  on: RemoteService,
  options: Omit<ConnectOptions, "store"> = {}
): Effect.Effect<Passage<InvalidSettings>, InvalidSettings> =>
  Effect.flatMap(remoteServices, ({ passage }) => passage(on, options))

/** How calls are passed on to a store in this process. */
export const passageLocal = (
  filename: string,
  options: Omit<ConnectOptions, "client" | "transport"> = {}
): Effect.Effect<Passage<StoreError>, InvalidSettings> =>
  Effect.flatMap(localServices, ({ passage }) => passage(filename, options))

/**
 * All services, where the environment says: `ROSTER_BASE_URL` and `ROSTER_API_KEY` for a service over the network, or
 * `ROSTER_DB` for a store file, as for the command line. `defaultDb` is the store file if none of them is set.
 */
export const layerConfig = ({
  defaultDb,
  ...options
}: ConnectOptions & { readonly defaultDb?: string | undefined } = {}): Layer.Layer<
  Services,
  Config.ConfigError | UnclearConnection | InvalidSettings | StoreError
> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const given = yield* config
      const on = yield* Effect.fromResult(choose(given))
      if (on._tag === "Remote") {
        return Layer.unwrap(Effect.map(remoteServices, ({ layerFromEnvironment }) => layerFromEnvironment(on, options)))
      }
      if (on.filename === undefined && given.profile !== undefined) {
        return yield* new UnclearConnection({ problem: "ProfileGiven" })
      }
      const filename = on.filename ?? defaultDb
      return filename === undefined
        ? yield* new UnclearConnection({ problem: "NothingGiven" })
        : layerLocal(filename, options)
    })
  )
