/** The names of columns that mean something to an import, and so to nobody's custom field. (docs/decisions/csv.md) */
import { addedFields, allFields } from "../contacts/ContactFields.ts"
import { quoted } from "../values/DidYouMean.ts"
import { listsColumn } from "../lists/ListsText.ts"

/** The fields that an import takes from a file, by their names in lower case. The service itself sets all others. */
export const importedByName = new Map(addedFields.map((field) => [field.wire.toLowerCase(), field]))

/** Whether a name is that of the column of lists. */
export const isListsColumn = (name: string): boolean => name.toLowerCase() === listsColumn.toLowerCase()

/** Whether an import takes a column of this name. */
export const isImported = (name: string): boolean => importedByName.has(name.toLowerCase()) || isListsColumn(name)

/** The column of a file of rejected rows that holds the reason. An import ignores it. */
export const errorColumn = "_error"

const reserved = [
  ...allFields.map(({ wire }) => wire),
  "AllowUnsubscribe",
  "CustomFields",
  "Consent",
  "Activity",
  listsColumn,
  errorColumn
]

const recordColumns = new Set(reserved.map((name) => name.toLowerCase()))

/** Why a custom field may not have the name of a record column, and what to do. */
export const reservedNameIssue = (name: string): string =>
  `no custom field may be named ${quoted(name)}, since a file of contacts has a column of this name; choose another name`

/** Whether a name is that of a record column or of the error column, which no custom field may have. */
export const isRecordColumn = (name: string): boolean => recordColumns.has(name.toLowerCase())
