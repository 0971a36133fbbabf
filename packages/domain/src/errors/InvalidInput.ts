/** Invalid input, and the conversion of schema issues to `Invalid email: …`. */
import { type Config, Effect, Schema, SchemaIssue, type StandardSchema } from "effect"
import { codeName, holdsCustomNames, wireField, wireName } from "../values/WireRecord.ts"
import { TaggedError } from "./TaggedError.ts"

/** Input that the service would refuse in any state. Names the field and never the value, which may be an address or key. */
export class InvalidInput extends TaggedError<InvalidInput>()("InvalidInput", {
  /** The name of the field in code: `email`, `limit`, `[3].customFields.City`; of an unknown one, the name that was given. */
  field: Schema.String,
  /** What is wrong and what would be right, phrased to follow "Invalid email: ". */
  issue: Schema.String
}) {
  override get message(): string {
    return `Invalid ${this.field}: ${this.issue}`
  }
}

const addressable = Schema.String.check(
  Schema.makeFilter(
    (text) => text !== "" && text !== "." && text !== ".." && !text.includes("\0") && text.isWellFormed()
  )
)

/** Whether a text can be a path segment: URL parsers remove `.` and `..`, and a lone surrogate has no UTF-8. */
export const isAddressable = Schema.is(addressable)

/** Makes the error for a text that cannot be a segment of a path. */
export const notAddressable = (field: string): InvalidInput =>
  new InvalidInput({ field, issue: "it is empty, a dot path or broken text, which cannot be part of a URL" })

/** Whether the first issue is a name that no field has. The wire has no other name for it. */
const isOfUnknownName = (issue: SchemaIssue.Issue | undefined): boolean => {
  switch (issue?._tag) {
    case "UnexpectedKey":
      return true
    case "Pointer":
    case "Encoding":
    case "Filter":
      return isOfUnknownName(issue.issue)
    case "Composite":
    case "AnyOf":
      return isOfUnknownName(issue.issues[0])
    default:
      return false
  }
}

const fieldOf = (path: ReadonlyArray<PropertyKey>, isUnknown: boolean, nameOf: (name: string) => string): string => {
  const names = path.map((key, index) => {
    const name = String(key)
    const isAsGiven = holdsCustomNames(String(path[index - 1])) || (isUnknown && index === path.length - 1)
    if (!isAsGiven && /^\d+$/.test(name)) return `[${name}]`
    return `${index === 0 ? "" : "."}${isAsGiven ? name : nameOf(name)}`
  })
  return names.join("").replaceAll(/\s/g, "_")
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const keysOf = ({ path = [] }: StandardSchema.StandardSchemaV1.Issue): ReadonlyArray<PropertyKey> =>
  path.map((part) => (typeof part === "object" ? part.key : part))

/**
 * Makes the error for input that does not fit a schema; `whole` is the field of an issue with the input itself. `nameOf`
 * names the fields (default: as in code), of which the issue has those of code and those of the wire.
 */
export const invalidInput = (
  error: Schema.SchemaError,
  whole = "body",
  nameOf: (name: string) => string = codeName
): InvalidInput => {
  const [first] = format(error.issue).issues
  const path = first === undefined ? [] : keysOf(first)
  return new InvalidInput({
    field: path.length === 0 ? whole : fieldOf(path, isOfUnknownName(error.issue), nameOf),
    issue: (first?.message ?? error.message).replaceAll(/(?<!\s)\s*\n\s*/g, " ").replace(/^Expected/, "expected")
  })
}

/** Names the variable that a `Config` cannot use, if it is known, and what is wrong with its value. */
export const refusedVariable = ({
  cause
}: Config.ConfigError): { readonly variable: string; readonly issue: string } | undefined => {
  const [first] = Schema.isSchemaError(cause) ? format(cause.issue).issues : []
  if (first === undefined) return undefined
  return { variable: keysOf(first).map(String).join("_"), issue: first.message.replace(/^Expected/, "expected") }
}

/** Validates input by encoding and decoding it, so that callers in-process and over HTTP get the same refusals. */
export const validated = <A, I>(schema: Schema.Codec<A, I>): ((input: A) => Effect.Effect<A, InvalidInput>) => {
  const write = Schema.encodeUnknownEffect(schema)
  const read = Schema.decodeUnknownEffect(schema)
  return (input) => Effect.mapErrorEager(Effect.flatMapEager(write(input), read), (error) => invalidInput(error))
}

const problem = ({ field, issue }: InvalidInput): string => (field === "body" ? issue : `${field}: ${issue}`)

/** Describes invalid input for the report of a row, whose columns have the names of the wire: `Email: …`. */
export const inputProblem = ({ field, issue }: InvalidInput): string =>
  problem(new InvalidInput({ field: wireField(field), issue }))

/** Describes input that does not fit a schema for the report of a row. */
export const schemaProblem = (error: Schema.SchemaError): string =>
  problem(invalidInput(error, "body", (name) => wireName(codeName(name))))
