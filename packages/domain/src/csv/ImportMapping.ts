/**
 * What is said about a file of contacts: how it is read, and what its columns and words mean. It is one value with a
 * JSON form, so that flags can fill it, a log can keep it and a page can edit it. (docs/decisions/csv.md)
 */
import { Schema } from "effect"
import { importedByName, isRecordColumn } from "./ColumnNames.ts"
import { isEncoding } from "./TextDecoding.ts"
import { formatWireDate, parseWireDate } from "../values/WireDate.ts"

/** The characters that may stand between two cells. */
export const Delimiter = Schema.Literals([",", ";", "\t", "|"])
export type Delimiter = typeof Delimiter.Type

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
  return isRecordColumn(name) && !importedByName.has(name.toLowerCase())
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

const firstOf = <A>(items: ReadonlyArray<A>, issue: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = issue(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** The parts of a date and the digits that each may have. */
const dateParts: { readonly [part: string]: string } = {
  YYYY: String.raw`\d{4}`,
  MM: String.raw`\d{1,2}`,
  DD: String.raw`\d{1,2}`,
  HH: String.raw`\d{1,2}`,
  mm: String.raw`\d{2}`,
  ss: String.raw`\d{2}`
}

const anyPart = /YYYY|MM|DD|HH|mm|ss/g

/** Why a text is no form of dates, or `undefined`. */
export const dateFormatIssue = (format: string): string | undefined => {
  const found: ReadonlyArray<string> = format.match(anyPart) ?? []
  const isWhole = ["YYYY", "MM", "DD"].every((part) => found.includes(part)) && new Set(found).size === found.length
  return isWhole && !/[\p{L}\d]/u.test(format.replaceAll(anyPart, "").replaceAll(/(?<=D)T(?=H)/g, ""))
    ? undefined
    : "a form of dates has YYYY, MM and DD, and may have HH, mm and ss, such as DD.MM.YYYY or MM/DD/YYYY HH:mm"
}

/**
 * Makes the function that reads dates of a form as the wire has them, in UTC. A text that has not this form, or names no day,
 * is returned as it is.
 */
export const makeDateReader = (format: string): ((text: string) => string) => {
  const names = format.match(anyPart) ?? []
  // What stands between the parts is no letter or digit, and so is itself behind a backslash.
  const pattern = new RegExp(
    `^${format
      .split(new RegExp(`(${anyPart.source})`))
      .map((piece) =>
        dateParts[piece] === undefined ? piece.replaceAll(/[^\p{L}\d\s]/gu, String.raw`\$&`) : `(${dateParts[piece]})`
      )
      .join("")}$`
  )
  return (text) => {
    const match = pattern.exec(text.trim())
    if (match === null) return text
    const part = (name: string): string => {
      const at = names.findIndex((each) => each === name)
      return (at < 0 ? "0" : (match[at + 1] ?? "0")).padStart(2, "0")
    }
    const date = parseWireDate(`${part("YYYY")}-${part("MM")}-${part("DD")}T${part("HH")}:${part("mm")}:${part("ss")}Z`)
    return date === undefined ? text : formatWireDate(date)
  }
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
  /** Whether an empty cell leaves its field as it is, or removes a name or custom field (default: keep). */
  empty: Schema.optionalKey(Schema.Literals(["keep", "clear"])),
  /** Whether cells are taken without the blanks around their texts (default: false). */
  trim: Schema.optionalKey(Schema.Boolean),
  /** The form of the dates of the record, such as `DD.MM.YYYY`, in UTC. Those as ISO 8601 are read besides. */
  dateFormat: Schema.optionalKey(Schema.String.check(Schema.makeFilter(dateFormatIssue)))
})
export interface ImportMapping extends Schema.Schema.Type<typeof ImportMapping> {}

/** The text of a file with a mapping. */
export const ImportMappingText = Schema.fromJsonString(ImportMapping)

/** A mapping and what is said besides; where both say something, that wins. */
export const mergeMappings = (mapping: ImportMapping, more: ImportMapping): ImportMapping => {
  const columns = { ...mapping.columns, ...more.columns }
  const values = { ...mapping.values }
  for (const [field, words] of Object.entries(more.values ?? {})) values[field] = { ...values[field], ...words }
  return {
    ...mapping,
    ...more,
    ...(Object.keys(columns).length === 0 ? {} : { columns }),
    ...(Object.keys(values).length === 0 ? {} : { values })
  }
}
