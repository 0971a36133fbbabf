/**
 * What the rows of one address in one file write together: the outcome of importing them one after the other.
 * (docs/decisions/bulk-import.md)
 */
import { Schema } from "effect"
import { renamed, spellingsOf } from "../values/FieldNames.ts"
import type { ContactPayload } from "./Contact.ts"
import * as ContactSize from "./ContactSize.ts"
import { canonicalEmail } from "./EmailAddress.ts"
import { type Resubscribe, strictnessOf, type WithheldStatus, wouldLower } from "./StatusLadder.ts"

/**
 * What counts of the rows of one address, field by field: the value that is given last, the one that is given first, or
 * nothing, so that all of them are rejected.
 */
export const OnDuplicate = Schema.Literals(["last", "first", "reject"])
export type OnDuplicate = typeof OnDuplicate.Type

/** How the rows of one address are merged. */
export interface RepeatOptions {
  /** Which value of a field counts (default: last). The status is the strictest in either case. */
  readonly onDuplicate?: OnDuplicate | undefined
  /** The statuses that a later row lifts (default: false, and the strictest stays). */
  readonly resubscribe?: Resubscribe | undefined
}

/** Why a row is rejected that would make the contact of its address too large. */
export const repeatedSizeIssue =
  `together with earlier rows of its address, the contact would have more than ${ContactSize.maximumCustomFields} custom ` +
  `fields or more than ${ContactSize.maximumContactBytes} bytes of JSON`

/** The status of two rows of one address: the strictest that they give, or the later one where it lifts the earlier. */
export const mergedStatus = <A extends string>(
  earlier: A | undefined,
  later: A | undefined,
  resubscribe: Resubscribe = false
): A | undefined => (later === undefined || wouldLower(earlier, later, resubscribe) ? earlier : later)

/** The addresses whose statuses are noted while a file is read, some 64 MiB of them. */
const maximumNoted = 500_000

/** Notes of what the rows of one address say together. */
export interface StatusNotes {
  /** Notes the status of a row, and gives the row with that of all rows up to it. */
  readonly note: (row: ContactPayload) => ContactPayload
  /** Gives a row, of this canonical address, at least the status that is noted of it. */
  readonly raise: (row: ContactPayload, identity: string) => ContactPayload
}

/**
 * Makes notes of the statuses that stop mail, for a file whose rows are written one after the other: of all of them, or from
 * the first row of an address that gives one. Of that one alone rows are raised.
 */
export const makeStatusNotes = (resubscribe: Resubscribe | undefined, one?: WithheldStatus): StatusNotes => {
  const noted = new Map<string, ContactPayload["status"]>()
  const withStatus = (row: ContactPayload, status: ContactPayload["status"]): ContactPayload =>
    status === row.status ? row : { ...row, status }
  return {
    note: (row) => {
      const isNoted = one === undefined ? strictnessOf(row.status) > 0 : row.status === one
      if (row.status === undefined || (noted.size === 0 && !isNoted)) return row
      const identity = canonicalEmail(row.email)
      const before = noted.get(identity)
      const status = mergedStatus(before, row.status, resubscribe)
      if (strictnessOf(status) === 0) noted.delete(identity)
      else if (before !== undefined || (isNoted && noted.size < maximumNoted)) noted.set(identity, status)
      return withStatus(row, status)
    },
    raise: (row, identity) =>
      one !== undefined && noted.get(identity) === one ? withStatus(row, mergedStatus(one, row.status)) : row
  }
}

const or = <A>(value: A | null | undefined, otherwise: A | null | undefined): A | undefined =>
  value ?? otherwise ?? undefined

/**
 * What an earlier and a later row of one address write together; `undefined` if that is beyond the bounds of a contact. A value
 * that is left out says nothing, an empty text removes a field as any other value replaces it.
 */
export const mergedContact = (
  earlier: ContactPayload,
  later: ContactPayload,
  { onDuplicate = "last", resubscribe }: RepeatOptions = {}
): ContactPayload | undefined => {
  const [above, below] = onDuplicate === "first" ? [earlier, later] : [later, earlier]
  const [fields, others] = [earlier.customFields, later.customFields]
  const spelled = fields === undefined || others === undefined ? others : renamed(others, spellingsOf(fields))
  // The type has a property for each field that a row can give.
  const merged: { readonly [Field in keyof Required<ContactPayload>]: ContactPayload[Field] } = {
    // A contact keeps the spelling with which it is added.
    email: earlier.email,
    status: mergedStatus(earlier.status, later.status, resubscribe),
    firstName: or(above.firstName, below.firstName),
    lastName: or(above.lastName, below.lastName),
    // A spread keeps `__proto__`, which an assignment would not.
    customFields:
      fields === undefined || spelled === undefined
        ? (fields ?? spelled)
        : onDuplicate === "first"
          ? { ...spelled, ...fields }
          : { ...fields, ...spelled },
    consent:
      above.consent === undefined || below.consent === undefined
        ? (above.consent ?? below.consent)
        : {
            ip: or(above.consent.ip, below.consent.ip),
            date: or(above.consent.date, below.consent.date),
            tracking: or(above.consent.tracking, below.consent.tracking)
          }
  }
  return ContactSize.contactSizeIssue(merged) === undefined ? merged : undefined
}
