/** The forms that most flags have. */
import { Effect } from "effect"
import { type CliError, type Command, Flag } from "effect/cli"
import { refuse } from "../errors/UsageError.ts"
import { longestSpan, parseDuration } from "../terminal/OutputFlags.ts"

/** A switch, off by default. */
export const toggle = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

/** An optional text. */
export const text = (name: string, description: string, metavar = "TEXT") =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.withDefault(undefined))

/** A text that can be given several times. */
export const texts = (name: string, description: string, metavar = "TEXT") =>
  parsedEach(name, (text) => Effect.succeed(text), description, metavar)

type Parse<A> = (text: string) => Effect.Effect<A, CliError.CliError, Command.Environment>

/** An optional text that is parsed. */
export const parsed = <A>(name: string, parse: Parse<A>, description: string, metavar: string) =>
  Flag.String(name).pipe(
    Flag.mapEffect(parse),
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.withDefault(undefined)
  )

/** A parsed text that can be given several times. */
export const parsedEach = <A>(name: string, parse: Parse<A>, description: string, metavar: string) =>
  Flag.String(name).pipe(
    Flag.mapEffect(parse),
    Flag.withMetavar(metavar),
    Flag.withDescription(`${description} (repeatable)`),
    Flag.atLeast(0)
  )

/** Parses a duration. */
export const parseTime = (name: string, refusal: string) => (given: string) => {
  const span = parseDuration(given)
  return span === undefined ? refuse(name, `${refusal}, at most ${longestSpan}`) : Effect.succeed(span)
}
