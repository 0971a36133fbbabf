/** Confirmation before data is lost. Without a terminal the answer is no, unless a flag of the command confirms. */
import { Effect, Schema, Stdio, Terminal } from "effect"
import { Flag } from "effect/cli"
import { toggle } from "../../settings/FlagForms.ts"
import { mayAsk } from "../../settings/GlobalFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { Target } from "../../target/Target.ts"

/** Nobody confirmed what needs a confirmation, and nothing was done. */
export class Declined extends Schema.TaggedError<Declined>()("Declined", {
  message: Schema.String,
  /** How to confirm, where the flags that confirm without a terminal are no answer. */
  hint: Schema.optional(Schema.String)
}) {}

const declined = (message: string, hint?: string) => new Declined({ message, hint })

export const yes = Flag.withAlias(toggle("yes", "Do not ask for confirmation"), "y")

export const confirmCount = Flag.Int("confirm").pipe(
  Flag.withMetavar("COUNT"),
  Flag.withDescription("Confirm the exact number of contacts; required for large deletions"),
  Flag.withDefault(undefined)
)

const hasTerminal = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  return (yield* mayAsk) && (yield* stdio.stdinIsTerminal) && (yield* stdio.stderrIsTerminal)
})

/** Declines before anything is sent if no flag confirms and there is no terminal. */
export const canAgree = Effect.fnUntraced(function* (
  what: string,
  { agreed, dryRun = false }: { readonly agreed: boolean; readonly dryRun?: boolean }
) {
  if (dryRun || (yield* hasTerminal)) return
  const { protectedBy } = yield* Target
  if (protectedBy !== undefined) {
    return yield* declined(
      `Nothing was done: this would ${what}, and the profile ${protectedBy} is protected: its name is typed at a terminal.`,
      "Run the command at a terminal."
    )
  }
  if (agreed) return
  return yield* declined(`Nothing was done: this would ${what}, and there is no terminal to ask for confirmation.`)
})

const ask = Effect.fnUntraced(function* (question: string) {
  const { name } = yield* Target
  yield* (yield* Output).ask(`${name}: ${question}`)
  const terminal = yield* Terminal.Terminal
  const answer = yield* terminal.readLine.pipe(Effect.catchTag("QuitError", () => Effect.succeed("")))
  return answer.trim()
})

/** Asks for the name of a protected profile; tells whether it was typed. */
const confirmName = Effect.fnUntraced(function* (what: string) {
  const { protectedBy } = yield* Target
  if (protectedBy === undefined) return false
  yield* canAgree(what, { agreed: false })
  const typed = yield* ask(`${what}? The profile is protected. Type its name, ${protectedBy}, to confirm:`)
  return (
    typed === protectedBy ||
    (yield* declined(
      `Nothing was done. What you typed is not ${protectedBy}.`,
      "Run the command again, and type the name."
    ))
  )
})

/** Asks a question of yes or no; any other answer declines. */
const askToGoOn = Effect.fnUntraced(function* (question: string) {
  if (!/^y(es)?$/i.test(yield* ask(`${question}? [y/N]`))) {
    return yield* declined("Nothing was done.", "To do it, run the command again and answer y.")
  }
})

/** Says a fact and asks what to do about it; without a terminal a flag has to say so, as the hint does. */
export const confirmFact = Effect.fnUntraced(function* (fact: string, question: string, hint: string) {
  if (!(yield* hasTerminal)) return yield* declined(`Nothing was done. ${fact}`, hint)
  yield* askToGoOn(`${fact} ${question}`)
})

/** Asks whether to do `what`, and names the service or store. */
export const confirm = Effect.fnUntraced(function* (what: string, given: { readonly yes: boolean }) {
  if ((yield* confirmName(what)) || given.yes) return
  yield* canAgree(what, { agreed: false })
  yield* askToGoOn(what)
})

/** More contacts than this are neither deleted nor changed back by a simple yes. */
export const mostByYes = 1000

/**
 * Asks whether to do `what` to so many contacts. If much would be lost, or `--confirm` gives a number, the number has to be
 * confirmed: `--yes` is not enough.
 */
export const confirmContacts = Effect.fnUntraced(function* (
  what: string,
  count: number,
  given: { readonly yes: boolean; readonly confirm: number | undefined },
  isSevere = count > mostByYes
) {
  if (!isSevere && given.confirm === undefined) return yield* confirm(what, given)
  yield* confirmName(what)
  if (given.confirm === count) return
  if (given.confirm !== undefined) {
    return yield* declined(`Nothing was done: this would ${what}: ${count} contacts, not ${given.confirm}.`)
  }
  if (!(yield* hasTerminal)) {
    return yield* declined(
      `Nothing was done: this would ${what}: ${count} contacts. To confirm, add --confirm ${count}.`
    )
  }
  const typed = yield* ask(`${what}? Type the number of contacts to confirm:`)
  if (typed !== String(count)) {
    return yield* declined(
      `Nothing was done. The number you typed is not ${count}.`,
      "To do it, run the command again and type the number."
    )
  }
})
