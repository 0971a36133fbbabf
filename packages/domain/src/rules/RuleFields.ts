/** The fields of a contact record that a rule can name. */
import { ConsentTracking, ContactSource, ContactStatus } from "../contacts/ContactRecord.ts"
import { didYouMean } from "./RuleError.ts"

/** What a record field holds, which decides the operators and literals that a rule may use with it. */
export type FieldKind = "text" | "number" | "date" | "enumeration"

/**
 * Every record field by its name in the language, in the order of the record. Any other name is that of a custom field.
 * `contactage` is not stored: it is the number of whole days since `dateadded`.
 */
export const recordFields = {
  email: { kind: "text" },
  status: { kind: "enumeration", values: ContactStatus.literals },
  firstname: { kind: "text" },
  lastname: { kind: "text" },
  consentip: { kind: "text" },
  consentdate: { kind: "date" },
  consenttracking: { kind: "enumeration", values: ConsentTracking.literals },
  source: { kind: "enumeration", values: ContactSource.literals },
  dateadded: { kind: "date" },
  dateupdated: { kind: "date" },
  statuschangedate: { kind: "date" },
  totalsent: { kind: "number" },
  totalopened: { kind: "number" },
  totalclicked: { kind: "number" },
  totalfailed: { kind: "number" },
  lastsent: { kind: "date" },
  lastopened: { kind: "date" },
  lastclicked: { kind: "date" },
  lastfailed: { kind: "date" },
  lastip: { kind: "text" },
  errorcode: { kind: "number" },
  friendlyerrormessage: { kind: "text" },
  contactage: { kind: "number" }
} as const satisfies Record<string, RecordFieldInfo>

/** A row of the table. The values of an enumeration are those known today: the service may add others. */
export type RecordFieldInfo =
  | { readonly kind: Exclude<FieldKind, "enumeration"> }
  | { readonly kind: "enumeration"; readonly values: ReadonlyArray<string> }

/** The name of a record field, in the lower case that rules are printed in. */
export type RecordFieldName = keyof typeof recordFields

/** All names of record fields, in the order of the record. */
// Object.keys widens to string; the table is a literal, so its keys are exactly the names.
/** The names of the record's fields in rules. */
export const recordFieldNames = Object.keys(recordFields) as ReadonlyArray<RecordFieldName>

/** Whether a text is the name of a record field, spelled in lower case. */
export const isRecordFieldName = (name: string): name is RecordFieldName => Object.hasOwn(recordFields, name)

/** Looks up the row of a record field. */
export const recordFieldInfo = (name: RecordFieldName): RecordFieldInfo => recordFields[name]

/** Asks whether a custom field of this name was meant to be a record field, or gives `undefined` when none is near. */
export const meantField = (name: string): string | undefined => didYouMean(name, recordFieldNames)
