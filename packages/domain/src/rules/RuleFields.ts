/** The fields that a rule can name. */
import type { RecordFieldInfo } from "../contacts/ContactField.ts"
import { contactFields } from "../contacts/ContactFieldTable.ts"
import { didYouMean } from "../values/DidYouMean.ts"
import { wholeDays } from "./RuleDate.ts"

export type { FieldKind, RecordFieldValue, RecordFieldInfo, RuleSubject } from "../contacts/ContactField.ts"

/** Every record field by its name in rules: those of a contact, and `contactage`, the whole days since `dateadded`. */
export const recordFields = {
  ...contactFields,
  contactage: {
    kind: "number",
    read: ({ dateAdded }, now) => dateAdded && wholeDays(dateAdded.epochMilliseconds, now)
  }
} as const satisfies Record<string, RecordFieldInfo>

/** The name of a record field, in the lower case that rules are printed in. */
export type RecordFieldName = keyof typeof recordFields

// Object.keys widens to string; the table is a literal, so its keys are exactly the names.
/** The names of all record fields, in record order. */
export const recordFieldNames = Object.keys(recordFields) as ReadonlyArray<RecordFieldName>

/** Whether a text is the name of a record field, spelled in lower case. */
export const isRecordFieldName = (name: string): name is RecordFieldName => Object.hasOwn(recordFields, name)

/** Looks up the row of a record field. */
export const recordFieldInfo = (name: RecordFieldName): RecordFieldInfo => recordFields[name]

/** Asks whether a custom field of this name was meant to be a record field, or gives `undefined` when none is near. */
export const meantField = (name: string): string | undefined => didYouMean(name, recordFieldNames)
