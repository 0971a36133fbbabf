/** The columns of contacts, and what a cell of each says. */
import { type Contact, type FieldsInUse, Rule } from "@roster/domain"
import { ContactFields } from "@roster/domain/internal"
import { DateTime } from "effect"

/** A column that can be shown. */
export interface ContactColumn {
  /** The name that exports and the command line have for it. */
  readonly name: string
  readonly read: (contact: Contact) => string
}

/** A time as the person's clock and language have it. */
const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })

/** A value as people read it; times in their own zone. */
export const textOf = (value: string | number | DateTime.Utc | null | undefined): string => {
  if (value === null || value === undefined) return ""
  return DateTime.isDateTime(value) ? localTime.format(DateTime.toDateUtc(value)) : String(value)
}

/** The column of the lists, which the page asks for only where it is shown. */
export const listsColumn = "Lists"

/** The address stands in each row before them. */
const recordColumns: ReadonlyArray<ContactColumn> = [
  ...ContactFields.allFields.flatMap(({ read, wire }) =>
    wire === "Email" ? [] : [{ name: wire, read: (contact: Contact) => textOf(read(contact)) }]
  ),
  { name: listsColumn, read: ({ lists = [] }) => lists.join("; ") }
]

const customColumn = (name: string): ContactColumn => {
  const folded = Rule.foldText(name)
  const read = ({ customFields = {} }: Contact): string => {
    const exact = customFields[name]
    if (exact !== undefined) return exact
    const other = Object.keys(customFields).find((own) => Rule.foldText(own) === folded)
    return other === undefined ? "" : (customFields[other] ?? "")
  }
  return { name, read }
}

/** The columns that are shown until a person chooses others. */
export const usualColumns: ReadonlyArray<string> = ["Status", "FirstName", "LastName", "DateAdded"]

/** All columns: those of the record, then the custom fields in use. */
export const allColumns = (inUse: FieldsInUse | undefined): ReadonlyArray<ContactColumn> => [
  ...recordColumns,
  ...(inUse?.fields ?? []).filter(({ isCustom }) => isCustom).map(({ name }) => customColumn(name))
]

/** The columns of these names, in their order. */
export const columnsOf = (names: ReadonlyArray<string>): ReadonlyArray<ContactColumn> =>
  names.map((name) => recordColumns.find((column) => column.name === name) ?? customColumn(name))
