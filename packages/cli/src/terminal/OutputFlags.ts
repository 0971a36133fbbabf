/**
 * What must be known of a command line even where the rest of it cannot be read: errors are printed as `--output` says, and
 * `--timeout` bounds everything. Both flags are declared and checked with the others in `GlobalFlags.ts`.
 */
import { Duration } from "effect"

/** The value of a flag, by its names with their dashes. */
export const flagValue = (args: ReadonlyArray<string>, names: ReadonlyArray<string>): string | undefined => {
  for (const [index, arg] of args.entries()) {
    if (arg === "--") return undefined
    const name = names.find((name) => arg === name || arg.startsWith(`${name}=`))
    if (name !== undefined) return arg === name ? args[index + 1] : arg.slice(name.length + 1)
  }
  return undefined
}

export const outputFormats = ["table", "json", "ndjson", "csv"] as const
export type OutputFormat = (typeof outputFormats)[number]

const isFormat = (text: string | undefined): text is OutputFormat => outputFormats.some((format) => format === text)

/** A table for people on a terminal, JSON for programs elsewhere, unless the command line says. */
export const outputFormat = (args: ReadonlyArray<string>, isTerminal: boolean): OutputFormat => {
  const given = flagValue(args, ["--output", "-o"])
  return isFormat(given) ? given : isTerminal ? "table" : "json"
}

/** Whether words are wanted of errors alone. */
export const isQuiet = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === "--quiet" || arg === "-q")
}

export const timeLimit = (args: ReadonlyArray<string>): Duration.Duration | undefined =>
  parseDuration(flagValue(args, ["--timeout"]) ?? "")

const units = {
  ms: Duration.millis,
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days,
  w: Duration.weeks
} as const

const isUnit = (text: string): text is keyof typeof units => Object.hasOwn(units, text)

/** Reads a span that is longer than nothing, or gives `undefined`. */
export const parseDuration = (text: string): Duration.Duration | undefined => {
  const [, amount = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? []
  return isUnit(unit) && Number(amount) > 0 ? units[unit](Number(amount)) : undefined
}
