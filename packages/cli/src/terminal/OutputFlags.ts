/**
 * What must be known of a command line even where the rest of it cannot be read: errors are printed as `--output` says, and
 * `--timeout` bounds everything. Both flags are declared and checked with the others in `GlobalFlags.ts`.
 */
import type { Duration } from "effect"
import { parseDuration } from "./Spans.ts"

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
