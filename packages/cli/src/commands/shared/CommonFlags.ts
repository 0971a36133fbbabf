/** Flags and arguments that several commands share, parsed into values of the domain, and how examples are written. */
import { EmailAddress, type Resubscribe, withheldStatuses } from "@roster/domain"
import { ContactColumns, resubscribeIn } from "@roster/domain/internal"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Duration, Effect, type Schema } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import { parseWith, refuse } from "../../errors/UsageError.ts"
import { parsed, parsedEach, parseTime, text, texts } from "../../settings/FlagForms.ts"
import { shorten } from "../../terminal/Printable.ts"

/** Checks flags against each other; the first refusal that applies is the error. */
export const refuseFlags = (...refusals: ReadonlyArray<readonly [applies: boolean, message: string]>) => {
  const [, message] = refusals.find(([applies]) => applies) ?? []
  return message === undefined ? Effect.void : Effect.fail(new CliError.ValidationError({ message }))
}

/** A file to write to; `undefined` for `-`, which is stdout, as without the flag. */
export const outFile = (description: string, name = "out") =>
  text(name, description, "FILE").pipe(Flag.map((path) => (path === "-" ? undefined : path)))

/** An argument that a schema parses. */
export const argument = <A>(name: string, schema: Schema.Codec<A, string>, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description), Argument.mapEffect(parseWith(schema, name)))

export const parseEmail = (field: string) => parseWith(EmailAddress, field)

export const email = argument("email", EmailAddress, "E-mail address of the contact")

/** The addresses of a command that takes several. */
export const emails = argument("email", EmailAddress, "E-mail addresses of the contacts")

/** An optional integer in a range. */
export const count = (name: string, description: string, from: number, to = Number.MAX_SAFE_INTEGER) =>
  Flag.Int(name).pipe(
    Flag.mapEffect((value) =>
      value >= from && value <= to
        ? Effect.succeed(value)
        : refuse(
            name,
            to === Number.MAX_SAFE_INTEGER
              ? `${value} is not a number from ${from} on`
              : `${value} is not a number from ${from} to ${to}`
          )
    ),
    Flag.withMetavar("N"),
    Flag.withDescription(description),
    Flag.withDefault(undefined)
  )

export const contactNames = {
  firstName: text("first-name", "First name", "NAME"),
  lastName: text("last-name", "Last name", "NAME")
}

/** Custom fields as `key=value`. The value may be empty. */
export const customFields = parsedEach(
  "field",
  (given) => {
    const at = given.indexOf("=")
    const name = given.slice(0, at)
    if (at <= 0) return refuse("field", "write a custom field as key=value")
    return ContactColumns.isRecordColumn(name)
      ? refuse("field", `${name} is a built-in field, not a custom field`)
      : Effect.succeed([name, given.slice(at + 1)] as const)
  },
  "Set a custom field; an empty value removes it",
  "key=value"
).pipe(Flag.map((pairs) => (pairs.length === 0 ? undefined : Object.fromEntries(pairs))))

export const lists = texts("list", "Add the contacts to this list, which is created if needed", "NAME")

/** What is wrong with the names of statuses. */
const wrongNames = (names: string): string => {
  const wrong = names.split(",").find((name) => resubscribeIn(name) === undefined) ?? names
  const meant = didYouMean(wrong.trim(), withheldStatuses)
  return (
    `"${shorten(wrong.trim())}" is no status that it lifts${meant === undefined ? "." : `; ${meant}`} ` +
    `Write it alone, or with names of ${withheldStatuses.join(", ")} and commas between them`
  )
}

/** The statuses that a command lifts: alone all but Abuse, or those that are named. (docs/decisions/upsert.md) */
export const resubscribeFlag = (description: string) =>
  Flag.String("resubscribe").pipe(
    Flag.mapEffect((names) => {
      const resubscribe = resubscribeIn(names)
      return resubscribe === undefined ? refuse("resubscribe", wrongNames(names)) : Effect.succeed(resubscribe)
    }),
    Flag.withOptionalValue("allow"),
    Flag.withMetavar("STATUS,..."),
    Flag.withDescription(description),
    Flag.withDefault(undefined)
  )

export const resubscribe = resubscribeFlag(
  "Let a lower status take the place of Unsubscribed, Bounced and NotConfirmed, or of those that are named, such as " +
    "Bounced; Abuse only by its name (default: contacts keep the stricter status)"
)

/** The refusal of `--resubscribe` alone, for `refuseFlags`. */
export const resubscribeNeedsStatus = ({
  resubscribe,
  status
}: {
  readonly resubscribe: Resubscribe | undefined
  readonly status: string | undefined
}) =>
  [
    resubscribe !== undefined && status === undefined,
    "--resubscribe needs --status: it says which statuses that one replaces."
  ] as const

/** An optional duration. */
export const optionalDuration = (name: string, description: string) =>
  parsed(name, parseTime(name, "write a duration as 30s, 10m, 24h or 7d"), description, "TIME")

/** A duration with a default. */
export const duration = (
  name: string,
  description: string,
  otherwise: Duration.Duration
): Flag.Flag<Duration.Duration> =>
  optionalDuration(name, `${description} (default: ${Duration.format(otherwise)})`).pipe(
    Flag.map((given) => given ?? otherwise)
  )

/** A port to listen on. */
export const portFlag = (description: string, otherwise: number): Flag.Flag<number> =>
  Flag.Int("port").pipe(
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      (port) => `a port from 1 to 65535, or 0 for any free port, not ${port}`
    ),
    Flag.withMetavar("N"),
    Flag.withDescription(`${description}, 0 for any free port (default: ${otherwise})`),
    Flag.withDefault(otherwise)
  )

/** Adds examples: a description for each command line, or `""` if the command line explains itself. */
export const withExamples = (descriptions: { readonly [commandLine: string]: string }) =>
  Command.withExamples(
    Object.entries(descriptions).map(([command, description]) =>
      description === "" ? { command } : { command, description }
    )
  )
