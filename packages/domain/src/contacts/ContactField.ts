/** A field of a contact: its names, its columns and how it is read. `ContactFieldTable` has them all. */
import type { DateTime } from "effect"
import type { Consent, ContactActivity, ContactRecord } from "./ContactRecord.ts"

type Maybe<A> = A | null | undefined

/** Optional fields, with any text where a contact has an enumeration. */
type Loose<A> = {
  readonly [K in keyof A]?: Maybe<NonNullable<A[K]> extends string ? string : NonNullable<A[K]>>
}

/** A contact, or as much of one as is given; a missing, null or undefined property is a field without a value. */
export interface ContactParts extends Loose<Omit<ContactRecord, "consent" | "activity">> {
  /** What the contact agreed to. */
  readonly consent?: Maybe<Loose<Consent>>
  /** The mail that the contact received, and how they reacted. */
  readonly activity?: Maybe<Loose<ContactActivity>>
}

/** The data of a contact that rules read. */
export interface RuleSubject extends ContactParts {
  /** The e-mail address. */
  readonly email: string
  /** The names of its lists, where they are known. */
  readonly lists?: ReadonlyArray<string> | undefined
}

/** The value of a field, or `undefined` for a field without one. */
export type RecordFieldValue = string | number | DateTime.Utc | undefined

/** What a record field holds, which decides the operators and literals that a rule may use with it. */
export type FieldKind = "text" | "number" | "date" | "enumeration"

/** The values of an enumeration are those known today: the service may add others. */
type Kinded =
  | { readonly kind: Exclude<FieldKind, "enumeration"> }
  | { readonly kind: "enumeration"; readonly values: ReadonlyArray<string> }

/** How a rule reads a field. */
export type RecordFieldInfo = Kinded & {
  /** Reads the field of a contact. */
  readonly read: (of: RuleSubject, now: number) => RecordFieldValue | null
}

/** What `ContactFieldTable` says of any field. */
interface AnyEntry {
  /** The name on the wire behind that of the record in which it is: `Consent.ConsentIP`. */
  readonly path: string
  /** Whether an add may give it. */
  readonly isAdded?: boolean
  /** Whether null in a contact that is read means that there is none. Elsewhere null stands for a missing field. */
  readonly isNullable?: boolean
  /** Whether every contact in a store has it. */
  readonly isStored?: boolean
}

/** A field that holds one value. */
export type FieldEntry = AnyEntry &
  Kinded & {
    /** Reads the field of a contact. */
    readonly read: (of: ContactParts) => RecordFieldValue | null
  }

/** The field that holds the custom ones. */
export interface TextsEntry extends AnyEntry {
  readonly kind: "texts"
  /** Reads the custom fields of a contact. */
  readonly read: (of: ContactParts) => Maybe<ContactRecord["customFields"]>
}

/** The names of a field. */
interface Names {
  /** The name on the wire, and of the column in a CSV file. */
  readonly wire: string
  /** The name in code. */
  readonly name: string
  /** The record on the wire in which it is, if that is not the contact. */
  readonly group: string | undefined
  /** The column of the table of contacts. */
  readonly column: string
}

/** A field that a contact may have, but for the custom ones. */
export type ContactField = FieldEntry & Names

/** A field of the record, or all custom ones. */
export type RecordField = ContactField | (TextsEntry & Names)

/** The column of a field by its name on the wire: `ConsentIP` is stored in `consent_ip`. */
export const columnName = (wire: string): string => wire.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase()
