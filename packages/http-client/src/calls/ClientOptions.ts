/** The settings of a client, how the configuration gives them, and their checks. No error of theirs holds a key. */
import { apiKeyHeader } from "@roster/api"
import {
  isLoopbackHost,
  KnownFields,
  noSecretText,
  refusedVariable,
  SecretFormat,
  secretText
} from "@roster/domain/internal"
import { Config, ConfigProvider, Duration, Effect, Option, Predicate, Record, Redacted } from "effect"
import { checkSettings, InvalidSettings, notSet } from "../transport/InvalidSettings.ts"
import { durations, type PartialRetrySettings, retryFields } from "./RetryPolicy.ts"

/** The settings of a client: the address of the service and the credentials. */
export interface ClientOptions {
  /** The base address; its last segment is `v4`. */
  readonly baseUrl: string
  /** The API key. An embedded service needs none. */
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** The header that carries the key (default: `X-Service-ApiKey`). */
  readonly apiKeyHeader?: string | undefined
  /** Text before the key in the header, such as `Bearer` (default: none). A space follows unless it ends in `=` or `:`. */
  readonly apiKeyPrefix?: string | undefined
  /** Sends the key over plain http to another machine (default: no). */
  readonly allowInsecure?: boolean | undefined
  /** Sends the W3C trace header of the current span to the service (default: no). */
  readonly propagateTrace?: boolean | undefined
  /** Puts the e-mail or name that a call is about into its span (default: no). */
  readonly traceSubjects?: boolean | undefined
  /** Changes to the `RetryPolicy` that is provided to the client's layer. */
  readonly retry?: PartialRetrySettings | undefined
}

const optionFields = KnownFields.fieldsOf<ClientOptions>("a client", {
  baseUrl: true,
  apiKey: true,
  apiKeyHeader: true,
  apiKeyPrefix: true,
  allowInsecure: true,
  propagateTrace: true,
  traceSubjects: true,
  retry: true
})

/** A `Config` for each setting of a client. */
export interface ClientConfigs extends Exclude<Config.Wrap<ClientOptions>, Config.Config<ClientOptions>> {}

/** The settings of a client as one `Config`, or as one for each of them. */
export type ClientConfig = Config.Config<ClientOptions> | ClientConfigs

/** A `Config` for each option: `ROSTER_BASE_URL`, `ROSTER_API_KEY` and the latter's `_HEADER` and `_PREFIX`. */
export const clientConfig = {
  baseUrl: Config.String("ROSTER_BASE_URL"),
  apiKey: Config.Redacted("ROSTER_API_KEY"),
  apiKeyHeader: Config.String("ROSTER_API_KEY_HEADER").pipe(Config.withDefault(apiKeyHeader)),
  apiKeyPrefix: Config.String("ROSTER_API_KEY_PREFIX").pipe(Config.withDefault(""))
} satisfies ClientConfig

/** The variables that a `Config` asked for, and those of them that have a value. */
interface Noted {
  readonly variables: Array<string>
  readonly set: Array<string>
}

/** Names the variable that was refused, or the first missing one. A message about a key may quote it, so it is replaced. */
const nameUnread = (setting: string, { variables, set }: Noted, error: Config.ConfigError) => {
  const refused = refusedVariable(error)
  if (refused === undefined) return error
  const { variable } = refused
  if (!set.includes(variable)) return new InvalidSettings({ setting, issue: notSet }).readFrom(variables[0])
  const isSecret = setting === "apiKey" || setting === "apiKeyPrefix"
  const issue = isSecret ? "its text is refused" : refused.issue
  return new InvalidSettings({ setting, issue, variable })
}

/** Reads options that are given as one `Config`, or as one for each option, and notes the variable of each. */
export const readOptions = (wrapped: ClientConfig) =>
  // Not `Effect.fnUntraced`, which bundlers keep even where only `RosterClient.layer` is used.
  Effect.gen(function* () {
    const provider = yield* ConfigProvider.ConfigProvider
    const variables = new Map<string, string>()
    const readOne = Effect.fnUntraced(function* (config: Config.Config<unknown>, setting: string) {
      const noted: Noted = { variables: [], set: [] }
      const noting = ConfigProvider.make((path) =>
        Effect.map(provider.load(path), (node) => {
          const variable = path.join("_")
          noted.variables.push(variable)
          if (node?.value !== undefined) noted.set.push(variable)
          return node
        })
      )
      const value = yield* Effect.mapError(config.parse(noting), (error) => nameUnread(setting, noted, error))
      const variable = noted.set.at(-1)
      if (variable !== undefined) variables.set(setting, variable)
      return value
    })
    const read = (value: unknown, path: ReadonlyArray<string>): ReturnType<typeof readOne> => {
      if (Config.isConfig(value)) return readOne(value, path.join("."))
      if (!Predicate.isObject(value)) return Effect.succeed(value)
      const given = Record.filter(value, (option) => option !== undefined)
      return Effect.all(Record.map(given, (option, name) => read(option, [...path, name])))
    }
    const options = Config.isConfig(wrapped) ? yield* wrapped.parse(provider) : yield* read(wrapped, [])
    // The values of the configs, in their places.
    return { options: options as ClientOptions, variables }
  })

/** What precedes the key: a scheme such as `Bearer` and a space, or a text such as `key=` as it is. */
const beforeKey = (prefix: string): string => (/[^=: ]$/.test(prefix) ? `${prefix} ` : prefix)

/**
 * Checks the options. A key read from a file may end with a line break; other invalid characters and a wrong checksum
 * are refused.
 */
export const checkOptions = Effect.fnUntraced(function* (options: ClientOptions) {
  yield* checkSettings(optionFields, options)
  yield* checkSettings(retryFields, options.retry, "retry.")
  const url = URL.parse(options.baseUrl)
  const refuse = (setting: string, issue: string) => Effect.fail(new InvalidSettings({ setting, issue }))
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return yield* refuse("baseUrl", "it is not an address such as https://example.com/v4")
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return yield* refuse("baseUrl", "it holds more than a scheme, a host and a path")
  }
  if (!/\/v4\/?$/.test(url.pathname)) {
    const corrected = `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}/v4`
    return yield* refuse("baseUrl", `its path does not end with /v4, as that of ${corrected} does`)
  }
  const { attempts = 1, ...retry } = options.retry ?? {}
  if (!Number.isSafeInteger(attempts) || attempts < 1) {
    return yield* refuse("retry.attempts", "it is not a whole number from 1 on")
  }
  const unread = durations.find((name) => {
    const duration = retry[name]
    return duration !== undefined && Option.isNone(Duration.fromInput(duration))
  })
  if (unread !== undefined) return yield* refuse(`retry.${unread}`, "it is not a duration such as 3 seconds")
  const header = options.apiKeyHeader ?? apiKeyHeader
  if (!Predicate.isString(header) || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(header))
    return yield* refuse("apiKeyHeader", "it is not the name of a header")
  const prefix = options.apiKeyPrefix ?? ""
  if (!Predicate.isString(prefix) || !/^[\x20-\x7e]*$/.test(prefix))
    return yield* refuse("apiKeyPrefix", "it holds characters that a header cannot carry")
  const checked = { baseUrl: url.href.replace(/\/$/, ""), header }
  if (options.apiKey === undefined) return { ...checked, key: undefined, headerValue: undefined }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname) && options.allowInsecure !== true) {
    return yield* refuse("baseUrl", "it would send the API key over the network unencrypted; use https")
  }
  const keyText = secretText(options.apiKey)
  if (keyText === undefined) {
    return yield* refuse("apiKey", noSecretText)
  }
  const key = keyText.replace(/\r?\n$/, "")
  if (key.length === 0) return yield* refuse("apiKey", "it is empty")
  if (key.length > 4096) return yield* refuse("apiKey", "it is longer than any key")
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return yield* refuse("apiKey", "it holds a space, a line break or another character that a key never has")
  }
  // Keys of other services have no checksum.
  if (key.startsWith(SecretFormat.prefixes.ApiKey) && !SecretFormat.isApiKey(key)) {
    return yield* refuse(
      "apiKey",
      "it is mistyped or incomplete, since its checksum is wrong; copy the whole key again"
    )
  }
  return {
    ...checked,
    key: Redacted.make(key, { label: "apiKey" }),
    headerValue: Redacted.make(beforeKey(prefix) + key, { label: "apiKey" })
  }
})
