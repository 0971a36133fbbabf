/**
 * The flags that every command has, before or after its name. No flag takes a key: a command line is seen by every process
 * of the machine and kept in the history of the shell.
 */
import { Effect } from "effect"
import { CliError, Flag, GlobalFlag } from "effect/cli"
import { parseSpan } from "./Spans.ts"
import { invalid, refusedInput } from "./UsageError.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.withDefault(undefined))

/**
 * @category flags
 * @since 0.1.0
 */
export const output = GlobalFlag.Setting("output")({
  flag: Flag.Literals("output", ["table", "json"]).pipe(
    Flag.withAlias("o"),
    Flag.withDescription("How results are printed: a table on a terminal, JSON elsewhere, unless said"),
    Flag.withDefault(undefined)
  )
})

/**
 * @category flags
 * @since 0.1.0
 */
export const timeout = GlobalFlag.Setting("timeout")({
  flag: Flag.String("timeout").pipe(
    Flag.mapEffect((given) => {
      const span = parseSpan(given)
      return span === undefined
        ? refusedInput(Effect.fail(invalid("timeout", "a time limit is written as 500ms, 3s, 2m or 1h")))
        : Effect.succeed(span)
    }),
    Flag.withMetavar("3s"),
    Flag.withDescription("The longest time the whole command may take"),
    Flag.withDefault(undefined)
  )
})

/**
 * @category flags
 * @since 0.1.0
 */
export const baseUrl = GlobalFlag.Setting("base-url")({
  flag: text("base-url", "URL", "The address of the service, ending in /v4 (ROSTER_BASE_URL)")
})

/**
 * @category flags
 * @since 0.1.0
 */
export const apiKeyFile = GlobalFlag.Setting("api-key-file")({
  flag: text("api-key-file", "PATH|-", "A file that holds the API key, or - for standard input (or set ROSTER_API_KEY)")
})

/**
 * @category flags
 * @since 0.1.0
 */
export const apiKeyHeader = GlobalFlag.Setting("api-key-header")({
  flag: text(
    "api-key-header",
    "NAME",
    "The header that carries the key, X-Service-ApiKey unless said (ROSTER_API_KEY_HEADER)"
  )
})

/**
 * @category flags
 * @since 0.1.0
 */
export const apiKeyPrefix = GlobalFlag.Setting("api-key-prefix")({
  flag: text("api-key-prefix", "TEXT", "What stands before the key in that header (ROSTER_API_KEY_PREFIX)")
})

/**
 * @category flags
 * @since 0.1.0
 */
export const db = GlobalFlag.Setting("db")({
  flag: text("db", "FILE", "Work on the store in this file, without a service (ROSTER_DB)")
})

/** Takes a key that somebody types all the same out of the command line, so that no message about it can quote it. */
const apiKey = GlobalFlag.Setting("api-key")({
  flag: Flag.String("api-key").pipe(
    Flag.mapEffect(() =>
      Effect.fail(
        new CliError.ValidationError({
          message: "No flag takes a key, since others could see it: set ROSTER_API_KEY, or use --api-key-file"
        })
      )
    ),
    Flag.withHidden,
    Flag.withDefault(undefined)
  )
})

/**
 * @category flags
 * @since 0.1.0
 */
export const globalFlags = [output, timeout, baseUrl, apiKeyFile, apiKeyHeader, apiKeyPrefix, db, apiKey] as const
