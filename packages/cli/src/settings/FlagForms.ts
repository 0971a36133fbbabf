/** The forms that most flags have. */
import { Flag } from "effect/cli"

/** A switch, off by default. */
export const toggle = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

/** An optional text. */
export const text = (name: string, description: string, metavar = "TEXT") =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.withDefault(undefined))
