/** Variables of the environment: one that cannot be read is a mistake of the user, and the error names it. */
import { refusedVariable } from "@roster/domain/internal"
import { type Config, Effect } from "effect"
import { usageError } from "../errors/UsageError.ts"

/** What is wrong with which variable. */
const problemOf = (error: Config.ConfigError): string => {
  const { issue, variable = "" } = refusedVariable(error) ?? {}
  return variable === ""
    ? `A variable of the environment cannot be read: ${error.message}`
    : `${variable} cannot be used: ${issue}.`
}

/** Refuses a variable that cannot be read. */
export const refusedSetting = (error: Config.ConfigError) => usageError(problemOf(error), "Correct it, or unset it.")

/** Reads variables. */
export const fromEnvironment = <A>(variables: Config.Config<A>) => Effect.mapError(variables, refusedSetting)
