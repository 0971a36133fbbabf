/**
 * Which service or store a command works on: flags before the environment, and nothing guessed. Whoever names half of a
 * remote service must never find that the change went into a local file, or the other way round.
 */
import { Config, Data, Effect, type Redacted, Result, Schema } from "effect"
import * as GlobalFlags from "./GlobalFlags.ts"
import { type UsageError, usageError } from "./UsageError.ts"

/**
 * An address is known and no key.
 *
 * @category errors
 * @since 0.1.0
 */
export class MissingKey extends Schema.TaggedError<MissingKey>()("MissingKey", { message: Schema.String }) {}

/**
 * @category models
 * @since 0.1.0
 */
export interface Given {
  readonly baseUrl?: string | undefined
  readonly apiKeyHeader?: string | undefined
  readonly apiKeyPrefix?: string | undefined
  readonly db?: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface GivenFlags extends Given {
  readonly apiKeyFile?: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface GivenEnvironment extends Given {
  readonly apiKey?: Redacted.Redacted<string> | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type KeySource = Data.TaggedEnum<{
  File: { readonly path: string }
  Environment: { readonly key: Redacted.Redacted<string> }
}>

/**
 * @category constructors
 * @since 0.1.0
 */
export const KeySource = Data.taggedEnum<KeySource>()

/**
 * @category models
 * @since 0.1.0
 */
export type Settings = Data.TaggedEnum<{
  Remote: {
    readonly baseUrl: string
    readonly key: KeySource
    readonly apiKeyHeader: string | undefined
    readonly apiKeyPrefix: string | undefined
  }
  /** The store of the user's data folder where no file is named. */
  Local: { readonly filename: string | undefined }
}>

/**
 * @category constructors
 * @since 0.1.0
 */
export const Settings = Data.taggedEnum<Settings>()

/**
 * Decides by what is given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolve = (
  flags: GivenFlags,
  environment: GivenEnvironment
): Result.Result<Settings, UsageError | MissingKey> => {
  const baseUrl = flags.baseUrl ?? environment.baseUrl
  const filename = flags.db ?? environment.db
  const apiKeyHeader = flags.apiKeyHeader ?? environment.apiKeyHeader
  const apiKeyPrefix = flags.apiKeyPrefix ?? environment.apiKeyPrefix
  const key =
    flags.apiKeyFile !== undefined
      ? KeySource.File({ path: flags.apiKeyFile })
      : environment.apiKey !== undefined
        ? KeySource.Environment({ key: environment.apiKey })
        : undefined
  if (baseUrl !== undefined && filename !== undefined) {
    return Result.fail(
      usageError(
        "An address and a store file are both given, and a command works on one of them.",
        "Leave out --base-url (ROSTER_BASE_URL) or --db (ROSTER_DB)."
      )
    )
  }
  if (baseUrl !== undefined) {
    return key === undefined
      ? Result.fail(new MissingKey({ message: "The address of a service is given and no API key for it." }))
      : Result.succeed(Settings.Remote({ baseUrl, key, apiKeyHeader, apiKeyPrefix }))
  }
  if (key !== undefined || apiKeyHeader !== undefined || apiKeyPrefix !== undefined) {
    return Result.fail(
      usageError(
        `An API key${key === undefined ? " header or prefix" : ""} is given and no address. The local store needs no key, so this cannot be meant for it.`,
        "Add --base-url or set ROSTER_BASE_URL; for the local store, unset ROSTER_API_KEY and leave out the --api-key flags."
      )
    )
  }
  return Result.succeed(Settings.Local({ filename }))
}

const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

/**
 * @category config
 * @since 0.1.0
 */
export const environment: Config.Config<GivenEnvironment> = Config.all({
  baseUrl: optional(Config.String("ROSTER_BASE_URL")),
  apiKey: optional(Config.Redacted("ROSTER_API_KEY")),
  apiKeyHeader: optional(Config.String("ROSTER_API_KEY_HEADER")),
  apiKeyPrefix: optional(Config.String("ROSTER_API_KEY_PREFIX")),
  db: optional(Config.String("ROSTER_DB"))
})

/**
 * @category flags
 * @since 0.1.0
 */
export const flags = Effect.all({
  baseUrl: GlobalFlags.baseUrl,
  apiKeyFile: GlobalFlags.apiKeyFile,
  apiKeyHeader: GlobalFlags.apiKeyHeader,
  apiKeyPrefix: GlobalFlags.apiKeyPrefix,
  db: GlobalFlags.db
})
