/** The fields of contacts as lists, for what treats all of them alike. */
import { codeName } from "../values/WireRecord.ts"
import { columnName, type ContactField, type FieldEntry, type RecordField, type TextsEntry } from "./ContactField.ts"
import { contactFieldTable } from "./ContactFieldTable.ts"

export type { ContactField, RecordField } from "./ContactField.ts"

/** The name of a field in code. A payload tells its names; what is only read has its own in lower case. */
export const nameInCode = (wire: string): string => {
  const told = codeName(wire)
  return told === wire ? wire.charAt(0).toLowerCase() + wire.slice(1) : told
}

/** The fields of the record, in its order. */
export const everyField: ReadonlyArray<RecordField> = Object.values<FieldEntry | TextsEntry>(contactFieldTable).map(
  (entry) => {
    const [wire = "", group] = entry.path.split(".").toReversed()
    return {
      ...entry,
      wire,
      group,
      name: nameInCode(wire),
      column: columnName(wire)
    }
  }
)

/** All fields but the custom ones, in the order of the columns of an export. */
export const allFields: ReadonlyArray<ContactField> = everyField.filter((field) => field.kind !== "texts")

/** Those that an add may give. */
export const addedFields = allFields.filter(({ isAdded }) => isAdded)

/** Those that hold any text and may be given. */
export const textFields = addedFields.filter(({ kind }) => kind === "text")

/** Whether a field is one of the contact itself, and not of its consent or activity. */
export const isOwn = ({ path, wire }: ContactField): boolean => path === wire

/** The record on the wire that has values at the paths of fields. */
export const wireRecordOf = (values: Iterable<readonly [path: string, value: unknown]>): Record<string, unknown> => {
  const record: Record<string, unknown> = {}
  const groups = new Map<string, Array<readonly [string, unknown]>>()
  for (const [path, value] of values) {
    const dot = path.indexOf(".")
    if (dot < 0) record[path] = value
    else {
      const name = path.slice(0, dot)
      const group = groups.get(name) ?? []
      group.push([path.slice(dot + 1), value])
      groups.set(name, group)
    }
  }
  // `fromEntries` keeps `__proto__`, which an assignment would not.
  for (const [name, fields] of groups) record[name] = Object.fromEntries(fields)
  return record
}
