/**
 * The profile that a command is about.
 */
import { Effect } from "effect"
import { Argument } from "effect/cli"
import type { Configuration } from "../../../settings/ConfigFile.ts"
import { ProfileName } from "../../../settings/Profile.ts"
import { parseWith, usageError } from "../../../errors/UsageError.ts"

export const name = Argument.String("name").pipe(
  Argument.withDescription("The name of the profile"),
  Argument.mapEffect(parseWith(ProfileName, "name"))
)

/** Refuses a name that is not there. */
export const checkKnown = ({ profiles }: Configuration, name: ProfileName) =>
  Object.hasOwn(profiles, name)
    ? Effect.void
    : Effect.fail(
        usageError(`There is no profile "${name}".`, `There are: ${Object.keys(profiles).join(", ") || "none yet"}`)
      )
