/** The forms that most flags have. */
import type { Effect } from "effect"
import { type CliError, type Command, Flag } from "effect/cli"

/** A switch, off by default. */
export const toggle = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

/** An optional text. */
export const text = (name: string, description: string, metavar = "TEXT") =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.withDefault(undefined))

/** A text that can be given several times. */
export const texts = (name: string, description: string, metavar = "TEXT"): Flag.Flag<ReadonlyArray<string>> =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(`${description} (repeatable)`),
    Flag.atLeast(0)
  )

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
