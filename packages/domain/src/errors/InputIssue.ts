/**
 * The one place where input that does not fit a schema becomes `Invalid Email: …`: the field by its name on the wire, never
 * the value.
 */
import { type Schema, SchemaIssue } from "effect"
import { InvalidInput } from "./InvalidInput.ts"

/** Fields whose name on the wire is not their own name with a capital. */
const wireNames: Readonly<Record<string, string>> = {
  accessLevels: "AccessLevel",
  ipRanges: "RestrictAccessToIPRange",
  ip: "ConsentIP",
  date: "ConsentDate",
  tracking: "ConsentTracking",
  fileFormat: "fileFormat",
  compressionFormat: "compressionFormat",
  fileName: "fileName",
  listnames: "listnames",
  limit: "limit",
  offset: "offset",
  subaccount: "subaccount"
}

/** Fields that hold fields of the account's own naming, under both of their names. */
const maps = new Set(["customFields", "CustomFields", "fields", "Fields", "merge", "Merge", "headers", "Headers"])

const wireName = (key: string): string => wireNames[key] ?? key.slice(0, 1).toUpperCase() + key.slice(1)

const fieldOf = (path: ReadonlyArray<PropertyKey>): string => {
  const names = path.map((key, index) =>
    typeof key === "number" || /^\d+$/.test(String(key))
      ? `[${String(key)}]`
      : `${index === 0 ? "" : "."}${maps.has(String(path[index - 1])) ? String(key) : wireName(String(key))}`
  )
  return names.join("").replaceAll(/\s/g, "_")
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Says in the words of the domain why some input does not fit a schema. */
export const invalidInput = (error: Schema.SchemaError, whole = "body"): InvalidInput => {
  const [first] = format(error.issue).issues
  const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
  return new InvalidInput({
    field: path.length === 0 ? whole : fieldOf(path),
    issue: (first?.message ?? error.message).replaceAll(/\s*\n\s*/g, " ").replace(/^Expected/, "expected")
  })
}

/** The same as one text, for the report of a row: `Email: …`. */
export const inputProblem = (error: Schema.SchemaError): string => {
  const { field, issue } = invalidInput(error)
  return `${field}: ${issue}`
}
