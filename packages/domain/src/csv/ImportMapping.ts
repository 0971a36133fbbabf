/**
 * What is said about a file of contacts: how it is read, and what its columns and words mean. It is one value with a
 * JSON form, so that flags can fill it, a log can keep it and a page can edit it. (docs/decisions/csv.md)
 */
import { Schema } from "effect"
import { importedByName, isImported, isListsColumn, isRecordColumn } from "./ColumnNames.ts"
import { isEncoding } from "./TextDecoding.ts"
import { kindIssue } from "../kinds/ColumnKind.ts"
import { dateFormatIssue } from "../kinds/DateForm.ts"
import { fromJsonString } from "../values/JsonParser.ts"
import { Delimiter } from "./FileHeader.ts"

/** The columns of a file, by heading or number, and the field that each becomes; null for one that is left out. */
export type ColumnMap = Readonly<Record<string, string | null>>

/** The word of a mapping that stands for every text that is none of the others. */
export const anyWord = "*"

/**
 * Words of a file for the value of a field, by the name of the field, or of one of its columns, and the word; `*` stands for all
 * other texts. An empty value says nothing.
 */
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
  return isRecordColumn(name) && !isImported(name)
    ? `only the service sets "${name}", so no column can become it`
    : undefined
}

/** Why a word cannot stand for a value of a field, or `undefined`. */
export const valueIssue = (field: string, value: string): string | undefined => {
  const known = importedByName.get(foldWord(field))
  if (known?.kind !== "enumeration" || value === "") return undefined
  if (known.values.some((name) => foldWord(name) === foldWord(value))) return undefined
  return `${JSON.stringify(value)} is no ${known.wire}, which is ${oneOf(known.values)}`
}

/** Why a field cannot have a value in all rows, or `undefined`. */
const constantIssue = (field: string, value: string): string | undefined =>
  foldWord(field) === "email"
    ? "each row has an address of its own"
    : isListsColumn(field.trim())
      ? "lists of all rows are no values; name them beside the mapping"
      : value.trim() === ""
        ? `write a value for ${field}`
        : (fieldIssue(field) ?? valueIssue(field, value))

const firstOf = <A>(items: ReadonlyArray<A>, issue: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = issue(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** What is said about a file of contacts. What is not said is found in the file, or by the names of its columns. */
export class ImportMapping extends Schema.Opaque<ImportMapping>()(
  Schema.Struct({
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
     * Whether the first line has headings (default: true). Without them a column is meant by its number, such as `#2`, and the
     * first one with an address in that line becomes Email unless `columns` says otherwise.
     */
    header: Schema.optionalKey(Schema.Boolean),
    /**
     * The columns that become another field than their heading says, by heading or as `#2` for the second (a heading that
     * is itself `#2` wins); null leaves a column out. Several may become Status: of what they say, the strictest counts.
     */
    columns: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.NullOr(Schema.String)).check(
        Schema.makeFilter((columns) =>
          firstOf(Object.values(columns), (field) => (field === null ? undefined : fieldIssue(field)))
        )
      )
    ),
    /**
     * Words of the file for values of a field: `{ Status: { subscribed: "Active" } }`, or for one of its columns, by heading or
     * number: `{ opt_in: { no: "Unsubscribed", yes: "" } }`. An empty value says nothing, and `*` stands for all other texts.
     */
    values: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.String)).check(
        Schema.makeFilter((fields) =>
          firstOf(
            Object.entries(fields).flatMap(([field, words]) => Object.values(words).map((value) => ({ field, value }))),
            ({ field, value }) => valueIssue(field, value)
          )
        )
      )
    ),
    /**
     * What the texts of a column are, by heading or number, where that is a custom field or a date: `date:DD.MM.YYYY`, `number:1.234,56`
     * or `boolean`, in the form of the file. They are stored as ISO 8601, plain decimals, `true` and `false`; the row of another is rejected.
     */
    kinds: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.String).check(
        Schema.makeFilter((kinds) => firstOf(Object.values(kinds), kindIssue))
      )
    ),
    /** What a field has in all rows, by its name: `{ Status: "Unsubscribed" }`. Beside columns that become Status the strictest counts. */
    constants: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.String).check(
        Schema.makeFilter((constants) =>
          firstOf(Object.entries(constants), ([field, value]) => constantIssue(field, value))
        )
      )
    ),
    /** Whether an empty cell leaves its field as it is, or removes a name or custom field (default: keep). */
    empty: Schema.optionalKey(Schema.Literals(["keep", "clear"])),
    /** Whether cells are taken without the blanks around their texts (default: false). */
    trim: Schema.optionalKey(Schema.Boolean),
    /** The form of the dates of the record, such as `DD.MM.YYYY`, in UTC. Those as ISO 8601 are read besides. */
    dateFormat: Schema.optionalKey(Schema.String.check(Schema.makeFilter(dateFormatIssue)))
  })
) {}

/** The text of a file with a mapping. */
export const ImportMappingText = fromJsonString(ImportMapping)

/** A mapping and what is said besides; where both say something, that wins. */
export const mergeMappings = (mapping: ImportMapping, more: ImportMapping): ImportMapping => {
  const columns = { ...mapping.columns, ...more.columns }
  const kinds = { ...mapping.kinds, ...more.kinds }
  const constants = { ...mapping.constants, ...more.constants }
  const values = { ...mapping.values }
  for (const [field, words] of Object.entries(more.values ?? {})) values[field] = { ...values[field], ...words }
  return {
    ...mapping,
    ...more,
    ...(Object.keys(columns).length === 0 ? {} : { columns }),
    ...(Object.keys(kinds).length === 0 ? {} : { kinds }),
    ...(Object.keys(constants).length === 0 ? {} : { constants }),
    ...(Object.keys(values).length === 0 ? {} : { values })
  }
}
