/** The flags that work even if the command line cannot be parsed; `GlobalFlags.ts` declares and checks them. */
import { Duration } from "effect"

/** The words up to `--` as effect/cli divides them: short flags in one word, such as `-qo json`, are as many flags. */
const divided = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  return args.slice(0, end < 0 ? undefined : end).flatMap((arg) => {
    const [, flags = "", value = ""] = /^-([a-z]{2,})(=.*)?$/is.exec(arg) ?? []
    return flags === ""
      ? [arg]
      : [...Array.from(flags.slice(0, -1), (flag) => `-${flag}`), `-${flags.slice(-1)}${value}`]
  })
}

/** The value of a flag. Names include their dashes. */
export const flagValue = (args: ReadonlyArray<string>, names: ReadonlyArray<string>): string | undefined => {
  const words = divided(args)
  for (const [index, word] of words.entries()) {
    const name = names.find((name) => word === name || word.startsWith(`${name}=`))
    if (name !== undefined) return word === name ? words[index + 1] : word.slice(name.length + 1)
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

/** Whether somebody asked for JSON, so that a program reads standard error, too: without a terminal people read it as well. */
export const isJsonAsked = (args: ReadonlyArray<string>): boolean =>
  /^(?:nd)?json$/.test(flagValue(args, ["--output", "-o"]) ?? "")

export const progressForms = ["plain", "none"] as const

/** The value of `--progress`. */
export const progressForm = (args: ReadonlyArray<string>): string | undefined => flagValue(args, ["--progress"])

/** What effect/cli takes for false behind a flag without a value. */
const falseWords: ReadonlySet<string> = new Set(["false", "0", "n", "no", "off"])

const isOn = (args: ReadonlyArray<string>, names: ReadonlyArray<string>): boolean =>
  divided(args).some((word) => names.includes(word.replace(/=.*/s, ""))) &&
  !falseWords.has(flagValue(args, names) ?? "")

/** Whether `--quiet` is set: of all messages only errors are printed. */
export const isQuiet = (args: ReadonlyArray<string>): boolean => isOn(args, ["--quiet", "-q"])

/** Whether `--wide` is set: a table shows all of its columns and texts, however wide the terminal is. */
export const isWide = (args: ReadonlyArray<string>): boolean => isOn(args, ["--wide"])

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

/** A longer span, added to a date, may lead out of every calendar. */
const longest = Duration.days(36_500)

/** The longest span, as messages name it. */
export const longestSpan = "36500d"

/** Parses a positive duration: `500ms`, `3s`, `2m`, `12h`, `30d`, `4w`. Returns `undefined` for any other text. */
export const parseDuration = (text: string): Duration.Duration | undefined => {
  const [, amount = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? []
  if (!isUnit(unit)) return undefined
  const span = units[unit](Number(amount))
  return Duration.isPositive(span) && Duration.isLessThanOrEqualTo(span, longest) ? span : undefined
}
