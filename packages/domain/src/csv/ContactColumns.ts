/** The columns and cells of a CSV file of contacts. (docs/decisions/csv.md) */
import { Result, Schema } from "effect"
import { type Contact, ContactPayload } from "../contacts/Contact.ts"
import { addedFields, allFields, type ContactField, wireRecordOf } from "../contacts/ContactFields.ts"
import { foldName } from "../values/FieldNames.ts"
import { inputProblem } from "../errors/InvalidInput.ts"
import { formatWireDate } from "../values/WireDate.ts"

/** Formulas of spreadsheets, which are given one more apostrophe than they have, so that every text is restored. */
const formula = /^'*[=+\-@\t\r\n\0]/
const protectedFormula = /^'+[=+\-@\t\r\n\0]/

/** Protects a cell from being run as a formula, by a leading apostrophe. */
export const protectCell = (text: string): string => (formula.test(text) ? `'${text}` : text)

/** Restores the text of a cell that may have been protected. */
export const restoreCell = (cell: string): string => (protectedFormula.test(cell) ? cell.slice(1) : cell)

/** The fields that an import takes from a file, by their names in lower case. The service itself sets all others. */
const importedByName = new Map(addedFields.map((field) => [field.wire.toLowerCase(), field]))

/** The column of a file of rejected rows that holds the reason. An import ignores it. */
export const errorColumn = "_error"

const recordColumns = new Set(
  [...allFields.map(({ wire }) => wire), "AllowUnsubscribe", "CustomFields", "Consent", "Activity", errorColumn].map(
    (name) => name.toLowerCase()
  )
)

/** Whether a name is that of a record column or of the error column, which no custom field may have. */
export const isRecordColumn = (name: string): boolean => recordColumns.has(name.toLowerCase())

/** The header of an exported file, given the names of its custom fields. */
export const exportHeader = (customFields: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...allFields.map(({ wire }) => wire),
  ...customFields.map(protectCell)
]

/** The cells of a contact under the header of `exportHeader`. */
export const exportCells = (contact: Contact, customFields: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own = contact.customFields ?? {}
  return [
    ...allFields.map(({ read }) => {
      const value = read(contact)
      if (value === null || value === undefined) return ""
      if (typeof value === "number") return String(value)
      return protectCell(typeof value === "string" ? value : formatWireDate(value))
    }),
    ...customFields.map((name) => protectCell(Object.hasOwn(own, name) ? (own[name] ?? "") : ""))
  ]
}

type Target =
  | { readonly _tag: "Record"; readonly field: ContactField }
  | { readonly _tag: "Custom"; readonly name: string }

/** The field that each column of a file is imported into; `undefined` for a column that is not imported. */
export interface ImportColumns {
  /** What each column of the file becomes, in their order; `undefined` for one that is not imported. */
  readonly targets: ReadonlyArray<Target | undefined>
}

const quotedList = (names: ReadonlyArray<string>): string =>
  names
    .slice(0, 10)
    .map((name) => JSON.stringify(name.slice(0, 40)))
    .join(", ")

/** The columns of a file that are imported under another name than that in the header: `[column, field]`. */
export type ColumnMap = ReadonlyArray<readonly [column: string, field: string]>

/** The name of each column after mapping. Fails for a mapped column that the header does not have. */
const namesBy = (header: ReadonlyArray<string>, map: ColumnMap): Result.Result<ReadonlyArray<string>, string> => {
  const names = header.map((cell) => restoreCell(cell).trim())
  const renamed = [...names]
  for (const [column, field] of map) {
    const known = importedByName.get(field.toLowerCase())
    if (known === undefined && isRecordColumn(field)) {
      return Result.fail(`only the service sets "${field}", so no column can become it`)
    }
    const exact = names.indexOf(column.trim())
    const at = exact >= 0 ? exact : names.findIndex((name) => name.toLowerCase() === column.trim().toLowerCase())
    if (at < 0) return Result.fail(`the header has no column "${column}"; it reads ${quotedList(header)}`)
    renamed[at] = field
  }
  return Result.succeed(renamed)
}

/** Reads a header. Names are equal by the fold of rules, mapped columns are renamed, and unknown names become custom fields. */
export const importColumns = (
  header: ReadonlyArray<string>,
  map: ColumnMap = []
): Result.Result<ImportColumns, string> => {
  const named = namesBy(header, map)
  if (Result.isFailure(named)) return Result.fail(named.failure)
  const seen = new Set<string>()
  const targets: Array<Target | undefined> = []
  for (const name of named.success) {
    const known = importedByName.get(name.toLowerCase())
    const custom = known === undefined && name !== "" && !isRecordColumn(name)
    const key = foldName(name)
    if ((known !== undefined || custom) && seen.has(key)) {
      return Result.fail(
        `the header has the column "${name}" twice${map.length === 0 ? "" : ", or another column is mapped to it"}`
      )
    }
    seen.add(key)
    targets.push(known !== undefined ? { _tag: "Record", field: known } : custom ? { _tag: "Custom", name } : undefined)
  }
  if (!seen.has("email")) {
    return Result.fail(`the header has no column "Email"; it reads ${quotedList(header)}`)
  }
  return Result.succeed({ targets })
}

const enumerated = (values: ReadonlyArray<string>) => {
  const known = new Map(values.map((value) => [value.toLowerCase(), value]))
  return (text: string) => known.get(text.trim().toLowerCase()) ?? text
}

const verbatim = (text: string): string => text
const trimmed = (text: string): string => text.trim()

/** How the text of a cell becomes the value of a field. */
const readerOf = (field: ContactField): ((text: string) => string) => {
  if (field.kind === "enumeration") return enumerated(field.values)
  return field.kind === "date" || field.wire === "Email" ? trimmed : verbatim
}

const readers = new Map(addedFields.map((field) => [field.path, readerOf(field)]))

const decodePayload = Schema.decodeUnknownResult(ContactPayload)

/** Whether a text is the problem that `importRow` reports for a wrong number of cells. */
export const isCountIssue = (text: string): boolean => /^the row has \d+ cells, the header (?:only )?\d+$/.test(text)

/** Reads a row as a contact to add, or gives the problem. An empty cell leaves its field unchanged. */
export const importRow = (
  { targets }: ImportColumns,
  cells: ReadonlyArray<string>
): Result.Result<ContactPayload, string> => {
  if (cells.length < targets.length)
    return Result.fail(`the row has ${cells.length} cells, the header ${targets.length}`)
  if (cells.slice(targets.length).some((cell) => cell !== "")) {
    return Result.fail(`the row has ${cells.length} cells, the header only ${targets.length}`)
  }
  const values: Array<readonly [string, unknown]> = []
  const customFields: Array<[string, string]> = []
  for (const [index, target] of targets.entries()) {
    const text = restoreCell(cells[index] ?? "")
    if (target === undefined || text === "") continue
    if (target._tag === "Custom") customFields.push([target.name, text])
    else values.push([target.field.path, readers.get(target.field.path)?.(text)])
  }
  if (customFields.length > 0) values.push(["CustomFields", Object.fromEntries(customFields)])
  const record = wireRecordOf(values)
  if (record["Email"] === undefined || record["Email"] === "") return Result.fail("the row has no e-mail address")
  return Result.mapError(decodePayload(record), inputProblem)
}

const bareName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")
/** Names that other programs give to fields, in the form of `bareName`. */
const otherNames: ReadonlyArray<readonly [string, string]> = [
  ["mail", "Email"],
  ["emailaddress", "Email"],
  ["mailaddress", "Email"],
  ["givenname", "FirstName"],
  ["forename", "FirstName"],
  ["surname", "LastName"],
  ["familyname", "LastName"]
]
/** A header may have a million columns, or one of 8 MiB; those of a person are among the first, and short. */
const consideredColumns = 1000
const longestName = 100
const importedByBareName = new Map([...addedFields.map(({ wire }) => [bareName(wire), wire] as const), ...otherNames])

/** The columns that are not fields despite names close to theirs: "E-mail Address", "First Name", "last_name". */
export const likelyFields = (header: ReadonlyArray<string>, map: ColumnMap = []): ColumnMap => {
  const mapped = new Set(map.map(([column]) => column.trim().toLowerCase()))
  const names = header
    .slice(0, consideredColumns)
    .map((cell) => (cell.length > longestName ? "" : restoreCell(cell).trim()))
  const taken = new Set([...names, ...map.map(([, field]) => field)].map((name) => name.toLowerCase()))
  return names.flatMap((name) => {
    const field = importedByBareName.get(bareName(name))
    if (field === undefined || taken.has(field.toLowerCase()) || mapped.has(name.toLowerCase())) return []
    // Of two columns for one field the first is meant.
    taken.add(field.toLowerCase())
    return [[name, field]]
  })
}
