/**
 * `--dry-run`, and the end of a command that has it. How far it comes is in `Rehearsal.ts`.
 */
import { Data, Effect } from "effect"
import { Flag } from "effect/cli"

export const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withoutNegation,
  Flag.withAlias("n"),
  Flag.withDescription("Check everything and show what would be sent, without sending it"),
  Flag.withDefault(false)
)

/** Ends a command where it would have changed something: no failure, and nothing that a command could go on from. */
export class DryRunRequest extends Data.TaggedError("DryRunRequest")<{
  readonly method: string
  readonly url: string
  readonly body: string
}> {}

/** The same for what is done without a request. */
export const rehearsed = (method: string, url: string, body: string): Effect.Effect<never> =>
  Effect.die(new DryRunRequest({ method, url, body }))
