/**
 * Asking before something is lost. Without a terminal nobody can answer, so that the answer is no unless it was given with
 * the command.
 */
import { Effect, Schema, Stdio, Terminal } from "effect"
import { Flag } from "effect/cli"
import { Output } from "./Output.ts"
import { Target } from "./Target.ts"

/**
 * @category errors
 * @since 0.1.0
 */
export class Declined extends Schema.TaggedError<Declined>()("Declined", { message: Schema.String }) {}

/**
 * @category flags
 * @since 0.1.0
 */
export const yes = Flag.Boolean("yes").pipe(
  Flag.withoutNegation,
  Flag.withAlias("y"),
  Flag.withDescription("Do not ask, do it"),
  Flag.withDefault(false)
)

/**
 * Asks whether `what` is to be done, naming the service or store that it would be done to.
 *
 * @category programs
 * @since 0.1.0
 */
export const confirm = Effect.fnUntraced(function* (what: string, given: { readonly yes: boolean }) {
  if (given.yes) return
  const stdio = yield* Stdio.Stdio
  if (!(yield* stdio.stdinIsTerminal) || !(yield* stdio.stderrIsTerminal)) {
    return yield* new Declined({ message: `Nothing was done: this would ${what}, and there is no terminal to ask on.` })
  }
  const output = yield* Output
  const terminal = yield* Terminal.Terminal
  const { name } = yield* Target
  yield* output.ask(`${name}: ${what}? [y/N]`)
  const answer = yield* terminal.readLine.pipe(Effect.catchTag("QuitError", () => Effect.succeed("")))
  if (!/^y(es)?$/i.test(answer.trim())) return yield* new Declined({ message: "Nothing was done." })
})
