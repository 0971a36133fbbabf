/**
 * Decides which service or store a command works on: flags override the environment, which overrides the profile, whose
 * key is sent only to its address.
 */
import { Connection } from "@roster/connect"
import { Config, Effect, Redacted, Result, Struct } from "effect"
import { KeySource, MissingKey } from "./ApiKeySource.ts"
import { readConfig } from "./ConfigFile.ts"
import { fromEnvironment } from "./Environment.ts"
import * as GlobalFlags from "./GlobalFlags.ts"
import { shorten } from "../terminal/Printable.ts"
import { localProfile, type Profile } from "./Profile.ts"
import { type UsageError, usageError } from "../errors/UsageError.ts"

export interface GivenEnvironment extends Connection.Given {
  readonly profile?: string | undefined
}

export interface GivenFlags extends Omit<Connection.Given, "apiKey" | "requireRemote"> {
  readonly apiKeyFile?: string | undefined
}

/** A profile with its name. */
interface NamedProfile extends Profile {
  readonly name: string
}

/** A local store without a file name is the one in the user's data folder. */
export type Settings = Connection.Connection<KeySource>

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
  const requireRemote = environment.requireRemote === true || inUse?.requireRemote === true
  const sources = { baseUrl, db: filename, apiKey: key, apiKeyHeader, apiKeyPrefix, requireRemote }
  return Result.mapError(Connection.choose(sources), ({ problem }) => {
    switch (problem) {
      case "KeyMissing": {
        const from = profile === undefined ? undefined : `The profile ${profile.name} has no API key.`
        const message = from ?? "The address of a service is set, but no API key for it."
        return new MissingKey({ message, baseUrl: baseUrl ?? "" })
      }
      case "AddressMissing":
        return usageError(
          `An API key${key === undefined ? " header or prefix" : ""} is set, but no service address. The ` +
            "local store needs no key, so this cannot be meant for it.",
          "Add --base-url or set ROSTER_BASE_URL; for the local store, unset ROSTER_API_KEY and omit the --api-key flags."
        )
      case "RemoteRequired":
        return usageError(
          "This would use a local store, which " +
            `${environment.requireRemote === true ? "ROSTER_REQUIRE_REMOTE" : `the profile ${inUse?.name}`} ` +
            "forbids.",
          "Set a service with --base-url or --profile, or remove that setting to use the local store."
        )
      default:
        return usageError(
          "A service address and a store file are both set, but a command uses only one of them.",
          "Remove --base-url (ROSTER_BASE_URL) or --db (ROSTER_DB)."
        )
    }
  })
}

/** What the environment sets. */
export const environment = Effect.map(fromEnvironment(Connection.config), (given): GivenEnvironment => given)

export const flags = Effect.all({
  baseUrl: GlobalFlags.baseUrl,
  apiKeyFile: GlobalFlags.apiKeyFile,
  apiKeyHeader: GlobalFlags.apiKeyHeader,
  apiKeyPrefix: GlobalFlags.apiKeyPrefix,
  db: GlobalFlags.db
})

/**
 * The profile named by flag or environment, or else the one in use; `undefined` if there is none, or for the local
 * store.
 */
export const profileInUse = Effect.gen(function* () {
  const named = (yield* GlobalFlags.profile) ?? (yield* environment).profile
  const { profile, profiles } = yield* readConfig
  const name = named ?? profile
  if (name === undefined) return undefined
  const settings = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (settings !== undefined) return { name, ...settings } satisfies NamedProfile
  if (named === undefined || named === localProfile) return undefined
  const names = Object.keys(profiles)
  return yield* usageError(
    `There is no profile "${shorten(named)}".`,
    names.length === 0 ? "Create one with: roster auth login --profile NAME" : `Profiles: ${names.join(", ")}`
  )
})

/** The name of the profile in use when no flag or variable chose it; `undefined` otherwise. */
export const unnamedProfile = Effect.gen(function* () {
  const { baseUrl, profile } = yield* environment
  const isNamed = ((yield* GlobalFlags.profile) ?? profile ?? (yield* flags).baseUrl ?? baseUrl) !== undefined
  return isNamed ? undefined : (yield* profileInUse)?.name
})

/**
 * Refuses a database of the environment, of which a command that works on a service or a store file makes no use, unless a flag says
 * what it works on: it would count, change or delete the contacts of another store than the environment names.
 */
const refuseDatabase = Effect.gen(function* () {
  const url = yield* fromEnvironment(Config.withDefault(Config.Redacted("ROSTER_DATABASE_URL"), undefined))
  const { baseUrl, db } = yield* flags
  if (url === undefined || Redacted.value(url) === "" || (baseUrl ?? db ?? (yield* GlobalFlags.profile)) !== undefined)
    return
  return yield* usageError(
    "ROSTER_DATABASE_URL is set, but this command cannot use a database: only serve, backup, restore, upgrade and doctor do.",
    "Name the service that serves it with --base-url or --profile, or a store file with --db; or unset the variable."
  )
})

/** The settings of this command. */
export const settings = Effect.gen(function* () {
  yield* refuseDatabase
  return yield* Effect.fromResult(resolve(yield* flags, yield* environment, yield* profileInUse))
})

/** The flag and the variable of a setting. */
const origins = {
  db: ["--db", "ROSTER_DB"],
  baseUrl: ["--base-url", "ROSTER_BASE_URL"],
  apiKeyHeader: ["--api-key-header", "ROSTER_API_KEY_HEADER"],
  apiKeyPrefix: ["--api-key-prefix", "ROSTER_API_KEY_PREFIX"]
} as const

/** Where a setting is from, for messages: a flag, a variable or a profile; `undefined` if it is none of these. */
export const originOf = Effect.fnUntraced(function* (setting: string) {
  const name = Struct.keys(origins).find((name) => name === setting)
  if (name === undefined) return undefined
  const [flag, variable] = origins[name]
  if ((yield* flags)[name] !== undefined) return flag
  const { profile, ...set } = yield* environment
  if (set[name] !== undefined) return variable
  return `the profile ${(yield* GlobalFlags.profile) ?? profile ?? (yield* readConfig).profile}`
})

/** The settings of a command that can say something about a service without its key. */
export const settingsWithoutKey = Effect.catchTag(settings, "MissingKey", (missing) => Effect.succeed(missing))
