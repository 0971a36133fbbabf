/** `--dry-run` of commands that change many contacts at once. */
import { Flag } from "effect/cli"

export const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withoutNegation,
  Flag.withAlias("n"),
  Flag.withDescription("Show what would be done, without doing it"),
  Flag.withDefault(false)
)
