/** The flags that work even if the command line cannot be parsed; `GlobalFlags.ts` declares and checks them. */
import { Duration } from "effect"

/** The value of a flag. Names include their dashes. */
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

/** The value of `--output` (default: a table on a terminal, JSON elsewhere). */
export const outputFormat = (args: ReadonlyArray<string>, isTerminal: boolean): OutputFormat => {
  const given = flagValue(args, ["--output", "-o"])
  return isFormat(given) ? given : isTerminal ? "table" : "json"
}

/** Whether `--quiet` is set: of all messages only errors are printed. */
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

/** Parses a positive duration: `500ms`, `3s`, `2m`, `12h`, `30d`, `4w`. Returns `undefined` for any other text. */
export const parseDuration = (text: string): Duration.Duration | undefined => {
  const [, amount = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? []
  return isUnit(unit) && Number(amount) > 0 ? units[unit](Number(amount)) : undefined
}
