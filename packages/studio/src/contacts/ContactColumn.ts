/** The columns of contacts, and what a cell of each says. */
import { type Contact, type FieldsInUse, Rule } from "@roster/domain"
import { ContactFields } from "@roster/domain/internal"
import { DateTime } from "effect"
import { fieldTitle } from "../texts/SharedTexts.ts"

/** A column that can be shown. */
export interface ContactColumn {
  /** The name that exports and the command line have for it. */
  readonly name: string
  /** The name that people read. */
  readonly title: string
  /** The text of the cell, or its time. */
  readonly read: (contact: Contact) => string | DateTime.Utc
}

/** What is shown of a value. */
export const shownOf = (value: string | number | DateTime.Utc | null | undefined): string | DateTime.Utc =>
  DateTime.isDateTime(value) ? value : String(value ?? "")

/** The column of the lists, which the page asks for only where it is shown. */
export const listsColumn = "Lists"

/** The column of the time at which contacts were added, by which they can be sorted. */
export const addedColumn = "DateAdded"

/** The address stands in each row before them. */
const recordColumns: ReadonlyArray<ContactColumn> = [
  ...ContactFields.allFields.flatMap(({ read, wire }) =>
    wire === "Email"
      ? []
      : [{ name: wire, title: fieldTitle(wire), read: (contact: Contact) => shownOf(read(contact)) }]
  ),
  { name: listsColumn, title: fieldTitle(listsColumn), read: ({ lists = [] }) => lists.join("; ") }
]

const customColumn = (name: string): ContactColumn => {
  const folded = Rule.foldText(name)
  const read = ({ customFields = {} }: Contact) => {
    const exact = customFields[name]
    if (exact !== undefined) return exact
    const other = Object.keys(customFields).find((own) => Rule.foldText(own) === folded)
    return other === undefined ? "" : (customFields[other] ?? "")
  }
  return { name, title: name, read }
}

/** The columns that are shown until a person chooses others. */
export const usualColumns: ReadonlyArray<string> = ["Status", "FirstName", "LastName", addedColumn]

/** All columns: those of the record, then the custom fields in use. */
export const allColumns = (inUse: FieldsInUse | undefined): ReadonlyArray<ContactColumn> => [
  ...recordColumns,
  ...(inUse?.fields ?? []).filter(({ isCustom }) => isCustom).map(({ name }) => customColumn(name))
]

/** The columns of these names, in their order. */
export const columnsOf = (names: ReadonlyArray<string>): ReadonlyArray<ContactColumn> =>
  names.map((name) => recordColumns.find((column) => column.name === name) ?? customColumn(name))
