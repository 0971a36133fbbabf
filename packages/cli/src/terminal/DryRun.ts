/** `--dry-run`, and how a command with it ends. */
import { Data, Effect } from "effect"
import { Flag } from "effect/cli"

export const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withoutNegation,
  Flag.withAlias("n"),
  Flag.withDescription("Show what would be done, without doing it"),
  Flag.withDefault(false)
)

/** The first request that would change something. As a defect it ends the command past all error handlers. */
export class DryRunRequest extends Data.TaggedError("DryRunRequest")<{
  readonly method: string
  readonly url: string
  readonly body: string
}> {}

/** Ends a dry run with the request, or with a description of a change that needs no request. */
export const endDryRun = (method: string, url: string, body: string): Effect.Effect<never> =>
  Effect.die(new DryRunRequest({ method, url, body }))
