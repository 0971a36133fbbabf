/**
 * The flags that hold for the errors of a command line too, which cannot be parsed then. They are read here alone;
 * `GlobalFlags.ts` declares them for the help and for their checks.
 */
import { Duration } from "effect"

/** Takes the value of a short flag that has one off the flag: effect/cli takes `-ocsv` for four flags. */
export const withValuesApart = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  return args.flatMap((arg, place) => {
    const [, flags, value] = (end < 0 || place < end ? /^(-[qny]*[op])([^=].*)$/s.exec(arg) : undefined) ?? []
    return flags === undefined || value === undefined ? [arg] : [flags, value]
  })
}

/** The words up to `--` as effect/cli divides them: short flags in one word, such as `-qo json`, are as many flags. */
const divided = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  return withValuesApart(args.slice(0, end < 0 ? undefined : end)).flatMap((arg) => {
    const [, flags = "", value = ""] = /^-([a-z]{2,})(=.*)?$/is.exec(arg) ?? []
    return flags === ""
      ? [arg]
      : [...Array.from(flags.slice(0, -1), (flag) => `-${flag}`), `-${flags.slice(-1)}${value}`]
  })
}

/** The names of short flags. */
const shortNames: ReadonlyMap<string, string> = new Map([
  ["o", "output"],
  ["q", "quiet"],
  ["p", "profile"]
])

/** The flags of a command line with what stands behind each, by their names. The first of a name counts. */
export const flagsIn = (args: ReadonlyArray<string>): ReadonlyMap<string, string | undefined> => {
  const words = divided(args)
  const flags = new Map<string, string | undefined>()
  for (const [index, word] of words.entries()) {
    const [, dashes = "", given = "", value = words[index + 1]] = /^(--?)([\w-]+)(?:=(.*))?$/s.exec(word) ?? []
    const name = dashes === "-" ? shortNames.get(given) : given
    if (name !== undefined && name !== "" && !flags.has(name)) flags.set(name, value)
  }
  return flags
}

export const outputFormats = ["table", "json", "ndjson", "csv"] as const
export type OutputFormat = (typeof outputFormats)[number]

export const progressForms = ["plain", "none"] as const

/** What effect/cli takes for false behind a flag without a value. */
const falseWords: ReadonlySet<string | undefined> = new Set(["false", "0", "n", "no", "off"])

/** What the flags say of output and time. */
export const outputFlags = (args: ReadonlyArray<string>) => {
  const flags = flagsIn(args)
  const isOn = (name: string): boolean => flags.has(name) && !falseWords.has(flags.get(name))
  return {
    /** The value of `--output`; `undefined` if it is none of its values. */
    requestedFormat: outputFormats.find((format) => format === flags.get("output")),
    /** Whether of all messages only errors are printed. */
    isQuiet: isOn("quiet"),
    /** Whether a table shows all of its columns and texts. */
    isWide: isOn("wide"),
    progress: flags.get("progress"),
    timeLimit: parseDuration(flags.get("timeout") ?? "")
  }
}

/** The format of results: a table on a terminal, JSON elsewhere, unless one is asked for. */
export const outputFormat = (requestedFormat: OutputFormat | undefined, isTerminal: boolean): OutputFormat =>
  requestedFormat ?? (isTerminal ? "table" : "json")

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
