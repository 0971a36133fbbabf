/** Errors of commands themselves, rather than of a service. */
import { InvalidInput } from "@roster/domain"
import { invalidInput } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { CliError } from "effect/cli"
import { shorten } from "../terminal/Printable.ts"

/** A refusal before anything is sent, such as conflicting flags or a missing file. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", {
  /** Identifies the mistake for programs: the tag of a domain error, or `UsageError`. */
  code: Schema.String,
  message: Schema.String,
  hint: Schema.String
}) {}

export const usageError = (message: string, hint: string): UsageError =>
  new UsageError({ code: "UsageError", message, hint })

/** Turns the refusal of a check into a mistake of the command line: the service was asked nothing. */
export const refusedHere = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  check: Effect.Effect<A, E, R>
): Effect.Effect<A, UsageError, R> =>
  Effect.mapError(check, ({ _tag, message }) => new UsageError({ code: _tag, message, hint: "Nothing was sent." }))

/** Turns the refusal of a check into an error of parsing, which effect/cli passes on to the error reporter. */
export const refusedInput = <A, E, R>(check: Effect.Effect<A, E, R>): Effect.Effect<A, CliError.UserError, R> =>
  Effect.mapError(check, (cause) => new CliError.UserError({ cause }))

/** Parses the text of a flag or an argument with a schema. The error names the field and quotes the text. */
export const parseWith = <A>(schema: Schema.Codec<A, string>, field: string) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (text: string): Effect.Effect<A, CliError.UserError> =>
    decode(text).pipe(
      Effect.mapError((error) => invalid(field, `"${shorten(text)}": ${invalidInput(error).issue}`)),
      refusedInput
    )
}

export const invalid = (field: string, issue: string): InvalidInput => new InvalidInput({ field, issue })

/** Fails the parsing of a flag or an argument with its name and the issue. */
export const refuse = (field: string, issue: string) => refusedInput(Effect.fail(invalid(field, issue)))

/** Part of the work was done and part was not, as the summary on stdout says. Exit code 9. */
export class PartlyDone extends Schema.TaggedError<PartlyDone>()("PartlyDone", {
  message: Schema.String,
  /** What to do, unless it is to correct rejected rows and send them again. */
  hint: Schema.optional(Schema.String)
}) {}
