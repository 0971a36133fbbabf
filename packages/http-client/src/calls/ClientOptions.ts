import { apiKeyHeader } from "@roster/api"
import { isLoopbackHost, SecretFormat } from "@roster/domain"
import {
  Config,
  ConfigProvider,
  Effect,
  Option,
  Predicate,
  Record,
  Redacted,
  Result,
  Schema,
  SchemaIssue
} from "effect"
import type { PartialRetrySettings } from "./RetryPolicy.ts"

/** The settings of a client: the address of the service and the credentials. */
export interface ClientOptions {
  /** The base address; its last segment is `v4`. */
  readonly baseUrl: string
  /** The API key. An embedded service needs none. */
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** The header that carries the key (default: `X-Service-ApiKey`). */
  readonly apiKeyHeader?: string | undefined
  /** Text before the key in the header, such as a scheme and a space (default: none). */
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

const notSet = "it is not set"

/** A setting cannot be used, or is missing. The error names the setting, and never holds a key. */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>()("InvalidSettings", {
  setting: Schema.String,
  issue: Schema.String,
  /** The variable of the configuration that it was read from, if known. */
  variable: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    const name = this.variable === undefined ? this.setting : `${this.variable} (${this.setting})`
    return this.issue === notSet
      ? `The setting ${name} is not set.`
      : `The setting ${name} cannot be used: ${this.issue}.`
  }
}

/** A `Config` for each option: `ROSTER_BASE_URL`, `ROSTER_API_KEY` and the latter's `_HEADER` and `_PREFIX`. */
export const clientConfig = {
  baseUrl: Config.String("ROSTER_BASE_URL"),
  apiKey: Config.Redacted("ROSTER_API_KEY"),
  apiKeyHeader: Config.String("ROSTER_API_KEY_HEADER").pipe(Config.withDefault(apiKeyHeader)),
  apiKeyPrefix: Config.String("ROSTER_API_KEY_PREFIX").pipe(Config.withDefault(""))
} satisfies Config.Wrap<ClientOptions>

/** Leaves out the options that are `undefined`, which `Config.unwrap` cannot read. */
const given = (wrapped: unknown): unknown =>
  Config.isConfig(wrapped) || !Predicate.isObject(wrapped)
    ? wrapped
    : Record.map(
        Record.filter(wrapped, (value) => value !== undefined),
        given
      )

/** Reads options that are given as one `Config`, or as one for each option. */
export const readOptions = (wrapped: Config.Wrap<ClientOptions>): Config.Config<ClientOptions> =>
  // The same options without those that are undefined.
  Config.unwrap(given(wrapped) as Config.Wrap<ClientOptions>)

/** Reads a `Config`, and notes the variables that it asks for and those of them that have a value. */
const readNoting = Effect.fnUntraced(function* <A>(config: Config.Config<A>) {
  const provider = yield* ConfigProvider.ConfigProvider
  const asked: Array<string> = []
  const set: Array<string> = []
  const noting = ConfigProvider.make((path) =>
    Effect.map(provider.load(path), (node) => {
      const variable = path.join("_")
      asked.push(variable)
      if (node?.value !== undefined) set.push(variable)
      return node
    })
  )
  return { read: yield* Effect.result(config.parse(noting)), asked, set }
})

const settingsError = (setting: string, issue: string, variable: string | undefined) =>
  new InvalidSettings({ setting, issue, ...(variable === undefined ? {} : { variable }) })

/** Names the variable that an unusable setting was read from: the last one with a value that its `Config` asked for. */
export const nameVariable = (wrapped: Config.Wrap<ClientOptions>) =>
  Effect.fnUntraced(function* (error: InvalidSettings) {
    let config: unknown = wrapped
    for (const name of error.setting.split(".")) {
      config = Predicate.hasProperty(config, name) ? config[name] : undefined
    }
    if (!Config.isConfig(config)) return error
    const { set } = yield* readNoting(config)
    return settingsError(error.setting, error.issue, set.at(-1))
  })

/** The `Config` of each option that has one of its own, by the name of the setting. */
const configsOf = (
  wrapped: unknown,
  path: ReadonlyArray<string> = []
): ReadonlyArray<readonly [setting: string, config: Config.Config<unknown>]> => {
  if (Config.isConfig(wrapped)) return path.length === 0 ? [] : [[path.join("."), wrapped]]
  if (!Predicate.isObject(wrapped)) return []
  return Object.entries(wrapped).flatMap(([name, value]) => configsOf(value, [...path, name]))
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The error of a setting whose variable has a text that its `Config` refuses. What is said of a key might hold it. */
const refusedText = (setting: string, { cause }: Config.ConfigError, set: ReadonlyArray<string>) => {
  const [first] = Schema.isSchemaError(cause) ? format(cause.issue).issues : []
  const variable = first?.path?.map((part) => String(typeof part === "object" ? part.key : part)).join("_")
  if (first === undefined || variable === undefined || !set.includes(variable)) return undefined
  const isSecret = setting === "apiKey" || setting === "apiKeyPrefix"
  const issue = isSecret ? "its text is refused" : first.message.replace(/^Expected/, "expected")
  return settingsError(setting, issue, variable)
}

/** Names the variable that is missing, the first one that its `Config` asks for, or refused; another error stays. */
export const nameUnread = (wrapped: Config.Wrap<ClientOptions>) =>
  Effect.fnUntraced(function* (error: Config.ConfigError) {
    for (const [setting, config] of configsOf(wrapped)) {
      const { asked, read, set } = yield* readNoting(Config.option(config))
      if (Result.isSuccess(read) && Option.isNone(read.success)) return settingsError(setting, notSet, asked[0])
      const refused = Result.isFailure(read) ? refusedText(setting, read.failure, set) : undefined
      if (refused !== undefined) return refused
    }
    return error
  })

/** Checks the options. A key read from a file may end with a line break; other invalid characters and a wrong checksum are refused. */
export const checkOptions = Effect.fnUntraced(function* (options: ClientOptions) {
  const url = URL.parse(options.baseUrl)
  const refuse = (setting: string, issue: string) => Effect.fail(new InvalidSettings({ setting, issue }))
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return yield* refuse("baseUrl", "it is not an address such as https://example.com/v4")
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return yield* refuse("baseUrl", "it holds more than a scheme, a host and a path")
  }
  if (!/\/v4\/?$/.test(url.pathname)) return yield* refuse("baseUrl", "its path does not end with /v4")
  const { attempts = 1 } = options.retry ?? {}
  if (!Number.isSafeInteger(attempts) || attempts < 1) {
    return yield* refuse("retry.attempts", "it is not a whole number from 1 on")
  }
  const header = options.apiKeyHeader ?? apiKeyHeader
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(header))
    return yield* refuse("apiKeyHeader", "it is not the name of a header")
  const prefix = options.apiKeyPrefix ?? ""
  if (!/^[\x20-\x7e]*$/.test(prefix))
    return yield* refuse("apiKeyPrefix", "it holds characters that a header cannot carry")
  const checked = { baseUrl: url.href.replace(/\/$/, ""), header }
  if (options.apiKey === undefined) return { ...checked, key: undefined, headerValue: undefined }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname) && options.allowInsecure !== true) {
    return yield* refuse("baseUrl", "it would send the API key over the network unencrypted; use https")
  }
  const key = Redacted.value(options.apiKey).replace(/\r?\n$/, "")
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
    headerValue: Redacted.make(prefix + key, { label: "apiKey" })
  }
})
