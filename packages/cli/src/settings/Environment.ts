/** Variables of the environment: one that cannot be read is a mistake of the user, and the error names it. */
import { type Config, Effect, Schema, SchemaIssue } from "effect"
import { usageError } from "../errors/UsageError.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong with which variable. */
const problemOf = ({ cause, message }: Config.ConfigError): string => {
  const [first] = Schema.isSchemaError(cause) ? format(cause.issue).issues : []
  const variable = first?.path?.map((part) => String(typeof part === "object" ? part.key : part)).join("_") ?? ""
  return first === undefined || variable === ""
    ? `A variable of the environment cannot be read: ${message}`
    : `${variable} cannot be used: ${first.message.replace(/^Expected/, "expected")}.`
}

/** Reads variables. */
export const fromEnvironment = <A>(variables: Config.Config<A>) =>
  Effect.mapError(variables, (error) => usageError(problemOf(error), "Correct it, or unset it."))
