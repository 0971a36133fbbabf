/**
 * Decides which service or store a command works on: flags override the environment, which overrides the profile. Half
 * of a remote service never leads to a local store or vice versa, and a profile's key is sent only to its address.
 */
import { Config, Data, Effect, type Redacted, Result } from "effect"
import { KeySource, MissingKey } from "./ApiKeySource.ts"
import { readConfig } from "./ConfigFile.ts"
import * as GlobalFlags from "./GlobalFlags.ts"
import { shorten } from "../terminal/Printable.ts"
import type { Profile } from "./Profile.ts"
import { type UsageError, usageError } from "../errors/UsageError.ts"

export interface Given {
  readonly baseUrl?: string | undefined
  readonly apiKeyHeader?: string | undefined
  readonly apiKeyPrefix?: string | undefined
  readonly db?: string | undefined
}

export interface GivenFlags extends Given {
  readonly apiKeyFile?: string | undefined
}

export interface GivenEnvironment extends Given {
  readonly apiKey?: Redacted.Redacted<string> | undefined
  readonly profile?: string | undefined
  readonly requireRemote?: boolean | undefined
}

/** A profile with its name. */
interface NamedProfile extends Profile {
  readonly name: string
}

export type Settings = Data.TaggedEnum<{
  Remote: {
    readonly baseUrl: string
    readonly key: KeySource
    readonly apiKeyHeader: string | undefined
    readonly apiKeyPrefix: string | undefined
  }
  /** `undefined` is the store in the user's data folder. */
  Local: { readonly filename: string | undefined }
}>

export const Settings = Data.taggedEnum<Settings>()

const keyOf = (profile: NamedProfile): KeySource | undefined =>
  profile.credentialProcess !== undefined
    ? KeySource.Command({ name: profile.name, commandLine: profile.credentialProcess })
    : profile.apiKey === undefined
      ? undefined
      : KeySource.Profile({ name: profile.name, key: profile.apiKey })

/** Decides from the given flags, environment and profile in use. */
export const resolve = (
  flags: GivenFlags,
  environment: GivenEnvironment,
  inUse?: NamedProfile
): Result.Result<Settings, UsageError | MissingKey> => {
  const givenUrl = flags.baseUrl ?? environment.baseUrl
  const filename = flags.db ?? environment.db
  // A profile does not apply to another address or to a store file.
  const profile = givenUrl === undefined && filename === undefined ? inUse : undefined
  const baseUrl = givenUrl ?? profile?.baseUrl
  const apiKeyHeader = flags.apiKeyHeader ?? environment.apiKeyHeader ?? profile?.apiKeyHeader
  const apiKeyPrefix = flags.apiKeyPrefix ?? environment.apiKeyPrefix ?? profile?.apiKeyPrefix
  const key =
    flags.apiKeyFile !== undefined
      ? KeySource.File({ path: flags.apiKeyFile })
      : environment.apiKey !== undefined
        ? KeySource.Environment({ key: environment.apiKey })
        : profile === undefined
          ? undefined
          : keyOf(profile)
  const refuse = (message: string, hint: string) => Result.fail(usageError(message, hint))
  if (baseUrl !== undefined && filename !== undefined) {
    return refuse(
      "A service address and a store file are both set, but a command uses only one of them.",
      "Remove --base-url (ROSTER_BASE_URL) or --db (ROSTER_DB)."
    )
  }
  if (baseUrl !== undefined) {
    if (key !== undefined) return Result.succeed(Settings.Remote({ baseUrl, key, apiKeyHeader, apiKeyPrefix }))
    const from = profile === undefined ? undefined : `The profile ${profile.name} has no API key.`
    return Result.fail(new MissingKey({ message: from ?? "The address of a service is set, but no API key for it." }))
  }
  if (key !== undefined || apiKeyHeader !== undefined || apiKeyPrefix !== undefined) {
    return refuse(
      `An API key${key === undefined ? " header or prefix" : ""} is set, but no service address. The local store needs no key, so this cannot be meant for it.`,
      "Add --base-url or set ROSTER_BASE_URL; for the local store, unset ROSTER_API_KEY and omit the --api-key flags."
    )
  }
  if (environment.requireRemote === true || inUse?.requireRemote === true) {
    return refuse(
      `This would use a local store, which ${environment.requireRemote === true ? "ROSTER_REQUIRE_REMOTE" : `the profile ${inUse?.name}`} forbids.`,
      "Set a service with --base-url or --profile, or remove that setting to use the local store."
    )
  }
  return Result.succeed(Settings.Local({ filename }))
}

const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

export const environment: Config.Config<GivenEnvironment> = Config.all({
  baseUrl: optional(Config.String("ROSTER_BASE_URL")),
  apiKey: optional(Config.Redacted("ROSTER_API_KEY")),
  apiKeyHeader: optional(Config.String("ROSTER_API_KEY_HEADER")),
  apiKeyPrefix: optional(Config.String("ROSTER_API_KEY_PREFIX")),
  db: optional(Config.String("ROSTER_DB")),
  profile: optional(Config.String("ROSTER_PROFILE")),
  requireRemote: optional(Config.Boolean("ROSTER_REQUIRE_REMOTE"))
})

export const flags = Effect.all({
  baseUrl: GlobalFlags.baseUrl,
  apiKeyFile: GlobalFlags.apiKeyFile,
  apiKeyHeader: GlobalFlags.apiKeyHeader,
  apiKeyPrefix: GlobalFlags.apiKeyPrefix,
  db: GlobalFlags.db
})

/** The profile named by flag or environment, or else the one in use; `undefined` if there is none. */
export const profileInUse = Effect.gen(function* () {
  const named = (yield* GlobalFlags.profile) ?? (yield* Effect.orDie(environment)).profile
  const { profile, profiles } = yield* readConfig
  const name = named ?? profile
  if (name === undefined) return undefined
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (found !== undefined) return { name, ...found } satisfies NamedProfile
  if (named === undefined) return undefined
  const names = Object.keys(profiles)
  return yield* usageError(
    `There is no profile "${shorten(named)}".`,
    names.length === 0 ? "Create one with: roster auth login --profile NAME" : `Profiles: ${names.join(", ")}`
  )
})

/** The settings of this command. */
export const settings = Effect.gen(function* () {
  return yield* Effect.fromResult(resolve(yield* flags, yield* Effect.orDie(environment), yield* profileInUse))
})
