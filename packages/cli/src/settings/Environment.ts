/** Variables of the environment: one that cannot be read is a mistake of the user, and the error names it. */
import { type Config, Effect } from "effect"
import { usageError } from "../errors/UsageError.ts"

/** Reads variables. */
export const fromEnvironment = <A>(variables: Config.Config<A>) =>
  Effect.mapError(variables, ({ message }) =>
    usageError(`A variable of the environment cannot be read: ${message}`, "Correct it, or unset it.")
  )
