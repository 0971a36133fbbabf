/** The flags of every command. None takes a key: other processes can see command lines, and shells keep them. */
import { Connection } from "@roster/connect"
import { Config, Effect } from "effect"
import { CliError, Flag, GlobalFlag } from "effect/cli"
import { outputFormats, progressForms } from "../terminal/OutputFlags.ts"
import { fromEnvironment } from "./Environment.ts"
import { parsed, parseTime, text, toggle } from "./FlagForms.ts"
import { ProfileName } from "./Profile.ts"
import { parseWith } from "../errors/UsageError.ts"

export const output = GlobalFlag.Setting("output")({
  flag: Flag.Literals("output", outputFormats).pipe(
    Flag.withAlias("o"),
    Flag.withDescription("Output format (default: table on a terminal, JSON elsewhere)"),
    Flag.withDefault(undefined)
  )
})

/** `OutputFlags` reads this flag and the next three: they hold for errors of parsing too. */
const quiet = GlobalFlag.Setting("quiet")({
  flag: Flag.withAlias(
    toggle("quiet", "Print only results, errors and an unnamed target, without progress and notes"),
    "q"
  )
})

const wide = GlobalFlag.Setting("wide")({
  flag: toggle("wide", "Show all columns and whole texts in tables, however wide the terminal is")
})

const progress = GlobalFlag.Setting("progress")({
  flag: Flag.Literals("progress", progressForms).pipe(
    Flag.withDescription(
      "Show progress as a line every ten seconds, or not (default: a bar on a terminal, lines elsewhere)"
    ),
    Flag.withDefault(undefined)
  )
})

export const noInput = GlobalFlag.Setting("no-input")({
  flag: toggle("no-input", "Never prompt, even on a terminal (or set ROSTER_NO_INPUT=true)")
})

/** Whether a command may ask the user. */
export const mayAsk = Effect.gen(function* () {
  return !(yield* noInput) && !(yield* fromEnvironment(Config.withDefault(Connection.onOff("ROSTER_NO_INPUT"), false)))
})

export const debugHttp = GlobalFlag.Setting("debug-http")({
  flag: toggle(
    "debug-http",
    "Show each request with its headers and its time on stderr, without keys, e-mail addresses and names"
  )
})

export const timeout = GlobalFlag.Setting("timeout")({
  flag: parsed(
    "timeout",
    parseTime("timeout", "write a time limit as 500ms, 3s, 2m or 1h"),
    "Maximum time for the whole command, such as 500ms, 3s, 2m or 1h (default: no limit)",
    "TIME"
  )
})

export const baseUrl = GlobalFlag.Setting("base-url")({
  flag: text("base-url", "Address of the service, ending in /v4 (or set ROSTER_BASE_URL)", "URL")
})

export const apiKeyFile = GlobalFlag.Setting("api-key-file")({
  flag: text("api-key-file", "Read the API key from this file, or - for stdin (or set ROSTER_API_KEY)", "PATH|-")
})

export const apiKeyHeader = GlobalFlag.Setting("api-key-header")({
  flag: text(
    "api-key-header",
    "HTTP header for the API key (default: X-Service-ApiKey; or set ROSTER_API_KEY_HEADER)",
    "NAME"
  )
})

export const apiKeyPrefix = GlobalFlag.Setting("api-key-prefix")({
  flag: text("api-key-prefix", "Text before the key in that header (or set ROSTER_API_KEY_PREFIX)", "TEXT")
})

export const db = GlobalFlag.Setting("db")({
  flag: text("db", "Use the local store in this file instead of a service (or set ROSTER_DB)", "FILE").pipe(
    // An unset variable in a script gives an empty value, which must not select the user's own store.
    Flag.filter(
      (file) => file !== "",
      () => "the name of a file, but the value is empty"
    )
  )
})

export const profile = GlobalFlag.Setting("profile")({
  flag: parsed(
    "profile",
    parseWith(ProfileName, "profile"),
    "Use this profile instead of the default one (or set ROSTER_PROFILE)",
    "NAME"
  ).pipe(Flag.withAlias("p"))
})

/** Consumes a key that the user types anyway, so that no error message can quote it. */
const apiKey = GlobalFlag.Setting("api-key")({
  flag: Flag.String("api-key").pipe(
    Flag.mapEffect(() =>
      Effect.fail(
        new CliError.ValidationError({
          message: "A key on the command line can be seen by others: set ROSTER_API_KEY, or use --api-key-file"
        })
      )
    ),
    Flag.withHidden,
    Flag.withDefault(undefined)
  )
})

export const globalFlags = [
  output,
  quiet,
  wide,
  progress,
  noInput,
  debugHttp,
  timeout,
  profile,
  baseUrl,
  apiKeyFile,
  apiKeyHeader,
  apiKeyPrefix,
  db,
  apiKey
] as const

/** Those that take no value, and the flags of help. All others have one. */
export const toggles: ReadonlySet<string> = new Set([
  "--quiet",
  "-q",
  "--wide",
  "--no-input",
  "--debug-http",
  "--help",
  "-h"
])
