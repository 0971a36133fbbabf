/** Invalid input, and the conversion of schema issues to `Invalid Email: …`. */
import { Effect, Schema, SchemaIssue } from "effect"

/** Input that the service would refuse in any state. Names the field and never the value, which may be an address or key. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  /** The name of the field on the wire: `Email`, `limit`, `[3].CustomFields`; of an unknown one, the name that was given. */
  field: Schema.String,
  /** What is wrong and what would be right, phrased to follow "Invalid Email: ". */
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

/** The wire names that differ from the name in code with a capital. */
const wireNames: Readonly<Record<string, string>> = {
  accessLevels: "AccessLevel",
  ipRanges: "RestrictAccessToIPRange",
  ip: "ConsentIP",
  date: "ConsentDate",
  tracking: "ConsentTracking",
  fileFormat: "fileFormat",
  compressionFormat: "compressionFormat",
  dryRun: "dryRun",
  fileName: "fileName",
  listnames: "listnames",
  limit: "limit",
  offset: "offset",
  subaccount: "subaccount"
}

/** Fields that hold custom names, by their names in code and on the wire. */
const maps = new Set(["customFields", "CustomFields", "fields", "Fields", "merge", "Merge", "headers", "Headers"])

const wireName = (key: string): string => wireNames[key] ?? key.slice(0, 1).toUpperCase() + key.slice(1)

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

const fieldOf = (path: ReadonlyArray<PropertyKey>, isUnknown: boolean): string => {
  const isAsGiven = (index: number) => maps.has(String(path[index - 1])) || (isUnknown && index === path.length - 1)
  const names = path.map((key, index) =>
    typeof key === "number" || /^\d+$/.test(String(key))
      ? `[${String(key)}]`
      : `${index === 0 ? "" : "."}${isAsGiven(index) ? String(key) : wireName(String(key))}`
  )
  return names.join("").replaceAll(/\s/g, "_")
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Makes the error for input that does not fit a schema; `whole` is the field of an issue with the input itself. */
export const invalidInput = (error: Schema.SchemaError, whole = "body"): InvalidInput => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
  return new InvalidInput({
    field: path.length === 0 ? whole : fieldOf(path, isOfUnknownName(error.issue)),
    issue: (first?.message ?? error.message).replaceAll(/\s*\n\s*/g, " ").replace(/^Expected/, "expected")
  })
}

/** Validates input by encoding and decoding it, so that callers in-process and over HTTP get the same refusals. */
export const validated = <A, I>(schema: Schema.Codec<A, I>): ((input: A) => Effect.Effect<A, InvalidInput>) => {
  const write = Schema.encodeUnknownEffect(schema)
  const read = Schema.decodeUnknownEffect(schema)
  return (input) => Effect.mapErrorEager(Effect.flatMapEager(write(input), read), (error) => invalidInput(error))
}

/** Describes input that does not fit a schema in one text, for the report of a row: `Email: …`. */
export const inputProblem = (error: Schema.SchemaError): string => {
  const { field, issue } = invalidInput(error)
  return `${field}: ${issue}`
}
