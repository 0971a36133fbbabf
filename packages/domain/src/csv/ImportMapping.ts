/**
 * What is said about a file of contacts: how it is read, and what its columns and words mean. It is one value with a
 * JSON form, so that flags can fill it, a log can keep it and a page can edit it. (docs/decisions/csv.md)
 */
import { Schema } from "effect"
import { importedByName, isRecordColumn } from "./ColumnNames.ts"
import { isEncoding } from "./TextDecoding.ts"

/** The characters that may stand between two cells. */
export const Delimiter = Schema.Literals([",", ";", "\t", "|"])
export type Delimiter = typeof Delimiter.Type

/** The columns of a file, by heading or number, and the field that each becomes; null for one that is left out. */
export type ColumnMap = Readonly<Record<string, string | null>>

/** Words of a file for the value of a field, by the name of the field and the word. */
export type ValueMap = Readonly<Record<string, Readonly<Record<string, string>>>>

/** A word of a file as words are compared: without regard to case and outer blanks. */
export const foldWord = (word: string): string => word.trim().toLowerCase()

/** Names as a sentence lists them: `a, b or c`. */
export const oneOf = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`

/** Why a column cannot become a field, or `undefined`. */
export const fieldIssue = (field: string): string | undefined => {
  const name = field.trim()
  if (name === "") return "a field has a name"
  return isRecordColumn(name) && !importedByName.has(name.toLowerCase())
    ? `only the service sets "${name}", so no column can become it`
    : undefined
}

/** Why a word cannot stand for a value of a field, or `undefined`. */
const valueIssue = (field: string, value: string): string | undefined => {
  const known = importedByName.get(foldWord(field))
  if (known?.kind !== "enumeration" || known.values.some((name) => foldWord(name) === foldWord(value))) return undefined
  return `${JSON.stringify(value)} is no ${known.wire}, which is ${oneOf(known.values)}`
}

const firstOf = <A>(items: ReadonlyArray<A>, issue: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = issue(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** What is said about a file of contacts. What is not said is found in the file, or by the names of its columns. */
export const ImportMapping = Schema.Struct({
  /** A name of the Encoding Standard (default: UTF-8). A byte order mark takes precedence. */
  encoding: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((name) => isEncoding(name) || "there is no such encoding; utf-8 and windows-1252 are names")
    )
  ),
  /** The character between two cells (default: found in the header, or named by a first line such as `sep=;`). */
  delimiter: Schema.optionalKey(Delimiter),
  /** The number of lines before the header (default: 0). */
  skipLines: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /**
   * The columns that become another field than their heading says, by heading or as `#2` for the second (a heading that
   * is itself `#2` wins); null leaves a column out.
   */
  columns: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.NullOr(Schema.String)).check(
      Schema.makeFilter((columns) =>
        firstOf(Object.values(columns), (field) => (field === null ? undefined : fieldIssue(field)))
      )
    )
  ),
  /** Words of the file for values of a field: `{ Status: { subscribed: "Active" } }`. */
  values: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.String)).check(
      Schema.makeFilter((fields) =>
        firstOf(
          Object.entries(fields).flatMap(([field, words]) => Object.values(words).map((value) => ({ field, value }))),
          ({ field, value }) => valueIssue(field, value)
        )
      )
    )
  )
})
export type ImportMapping = typeof ImportMapping.Type
