/**
 * What is refused here, before anything is sent: a flag that does not fit another one, a file that is not there, an input
 * that a check of ours does not let through. Exit code 2.
 */
import { InvalidInput, invalidInput } from "@roster/domain"
import { Effect, Schema } from "effect"
import { CliError } from "effect/cli"
import { shorten } from "../terminal/Printable.ts"

export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", {
  /** What a program knows the mistake by: the tag of an error of the domain, or `UsageError`. */
  code: Schema.String,
  message: Schema.String,
  hint: Schema.String
}) {}

export const usageError = (message: string, hint: string): UsageError =>
  new UsageError({ code: "UsageError", message, hint })

/** Says of the errors of a check that they come from here and not from the service. */
export const refusedHere = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  check: Effect.Effect<A, E, R>
): Effect.Effect<A, UsageError, R> =>
  Effect.mapError(check, ({ _tag, message }) => new UsageError({ code: _tag, message, hint: "Nothing was sent." }))

/** The same for a flag or an argument that is being parsed: effect/cli carries it to the failure boundary. */
export const refusedInput = <A, E, R>(check: Effect.Effect<A, E, R>): Effect.Effect<A, CliError.UserError, R> =>
  Effect.mapError(check, (cause) => new CliError.UserError({ cause }))

/**
 * Parses the text of a flag or an argument with a schema, naming it and what is wrong with it in the words of the domain.
 */
export const parseWith = <A>(schema: Schema.Codec<A, string>, field: string) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (text: string): Effect.Effect<A, CliError.UserError> =>
    decode(text).pipe(
      Effect.mapError((error) => invalid(field, `"${shorten(text)}": ${invalidInput(error).issue}`)),
      refusedInput
    )
}

export const invalid = (field: string, issue: string): InvalidInput => new InvalidInput({ field, issue })

/** Part of the work was done and part was not, as the summary on stdout says. Exit code 9. */
export class PartlyDone extends Schema.TaggedError<PartlyDone>()("PartlyDone", {
  message: Schema.String,
  /** What to do, unless it is to correct rejected rows and send them again. */
  hint: Schema.optional(Schema.String)
}) {}
