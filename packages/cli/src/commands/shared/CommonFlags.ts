/**
 * Flags and arguments that more than one command has, parsed into what the domain works with.
 */
import { ContactColumns, EmailAddress } from "@roster/domain"
import { Duration, Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import { parseDuration } from "../../terminal/OutputFlags.ts"
import { invalid, parseWith, refusedInput } from "../../errors/UsageError.ts"

export const parseEmail = (field: string) => parseWith(EmailAddress, field)

export const email = Argument.String("email").pipe(
  Argument.withDescription("The address of the contact"),
  Argument.mapEffect(parseEmail("email"))
)

/** A switch: there or not. */
export const toggle = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

/** A text that may be left out. */
export const text = (name: string, description: string, metavar = "TEXT") =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.withDefault(undefined))

/** A text that may be given several times. */
export const texts = (name: string, description: string, metavar = "TEXT"): Flag.Flag<ReadonlyArray<string>> =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(`${description} (repeatable)`),
    Flag.atLeast(0)
  )

/** A whole number of a range. */
export const count = (name: string, description: string, from: number, to: number): Flag.Flag<number | undefined> =>
  Flag.Int(name).pipe(
    Flag.mapEffect((value) =>
      value >= from && value <= to
        ? Effect.succeed(value)
        : refusedInput(Effect.fail(invalid(name, `${value} is not a number from ${from} to ${to}`)))
    ),
    Flag.withMetavar("N"),
    Flag.withDescription(description),
    Flag.withDefault(undefined)
  )

/** Custom fields as they are typed, `key=value`. The value may be empty. */
export const customFields = Flag.String("field").pipe(
  Flag.mapEffect((given) => {
    const at = given.indexOf("=")
    const name = given.slice(0, at)
    if (at <= 0) return refusedInput(Effect.fail(invalid("field", "a custom field is written as key=value")))
    return ContactColumns.isRecordColumn(name)
      ? refusedInput(Effect.fail(invalid("field", `${name} is a field that every contact has, and no custom one`)))
      : Effect.succeed([name, given.slice(at + 1)] as const)
  }),
  Flag.withMetavar("key=value"),
  Flag.withDescription("A custom field (repeatable)"),
  Flag.atLeast(0),
  Flag.map((pairs) => (pairs.length === 0 ? undefined : Object.fromEntries(pairs)))
)

export const lists = texts("list", "A list to put the contacts on; it comes into being if it is new", "NAME")

/** A span of time, which is another one where it is not given. */
export const span = (name: string, description: string, otherwise: Duration.Duration): Flag.Flag<Duration.Duration> =>
  Flag.String(name).pipe(
    Flag.mapEffect((given) => {
      const span = parseDuration(given)
      return span === undefined
        ? refusedInput(Effect.fail(invalid(name, "a time is written as 30s, 10m, 24h or 7d")))
        : Effect.succeed(span)
    }),
    Flag.withMetavar("TIME"),
    Flag.withDescription(`${description} (${Duration.format(otherwise)} unless said)`),
    Flag.withDefault(otherwise)
  )
