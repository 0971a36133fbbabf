/**
 * What is written of a contact, and what a write makes of the contact that was there: the one rule of adds, imports, updates
 * and conditional changes on every layer. (docs/decisions/upsert.md, docs/decisions/changes.md)
 */
import { DateTime, Schema, type Types } from "effect"
import { explained } from "../errors/Constructors.ts"
import { nullableRequestField, requestField } from "../values/OptionalField.ts"
import { GivenDate } from "../values/WireDate.ts"
import { openLiterals, payloadRecord } from "../values/WireRecord.ts"
import type { Contact, ContactPayload, ContactUpdatePayload } from "./Contact.ts"
import {
  Consent,
  ConsentTracking,
  ContactRecord,
  ContactStatus,
  type ContactSource,
  CustomFields,
  fewNames,
  withUniqueNames
} from "./ContactRecord.ts"
import * as ContactSize from "./ContactSize.ts"
import { byFoldedName, foldName, renamed, spellingsOf } from "../values/FieldNames.ts"
import { everyStatus, Resubscribe, statusAfter, strictnessOf } from "./StatusLadder.ts"

/**
 * What a change compares of a contact: no dates but that of the consent, no source, activity or lists. A `Contact` that
 * was read is one as it is.
 */
export class ContactContent extends Schema.Opaque<ContactContent>()(
  explained(
    payloadRecord(
      "the content of a contact",
      {
        /** Left out if the service does not tell. */
        status: requestField(openLiterals(ContactStatus)),
        /** The first name; left out or empty if there is none. */
        firstName: requestField(Schema.String),
        /** The last name; left out or empty if there is none. */
        lastName: requestField(Schema.String),
        /** The custom fields by name; those that are empty do not count. */
        customFields: requestField(withUniqueNames(CustomFields)),
        /** What the contact agreed to. */
        consent: requestField(Consent)
      },
      { alsoKnown: Object.keys(ContactRecord.to.fields) }
    ).annotate({ identifier: "ContactContent" })
  )
) {}

const nullableText = nullableRequestField(Schema.String)

/** What to write. A field that is left out stays as it is, and `null` removes one. */
export class ContactWrite extends Schema.Opaque<ContactWrite>()(
  explained(
    payloadRecord("what to write", {
      /** A new contact is Active if none is given. */
      status: requestField(ContactStatus),
      /** The first name; `null` removes it. */
      firstName: nullableText,
      /** The last name; `null` removes it. */
      lastName: nullableText,
      /** Merged key by key; `null` or an empty text removes a field. */
      customFields: requestField(
        withUniqueNames(Schema.Record(Schema.String, Schema.NullOr(Schema.String)).check(fewNames))
      ),
      /** Merged field by field; `null` removes a field, and in place of the whole all of them. */
      consent: nullableRequestField(
        payloadRecord(
          "the consent of a contact",
          {
            ip: nullableText,
            date: nullableRequestField(GivenDate),
            tracking: nullableRequestField(ConsentTracking)
          },
          { others: { ip: "ConsentIP", date: "ConsentDate", tracking: "ConsentTracking" } }
        )
      ),
      /** Lists that the contact is put on; new ones are created. */
      addToLists: requestField(Schema.Array(Schema.String)),
      /** Lists that the contact is taken off. */
      removeFromLists: requestField(Schema.Array(Schema.String)),
      /** The statuses that the write lifts, so that the given one takes their place (default: false, which is none). */
      resubscribe: requestField(Resubscribe)
    }).annotate({ identifier: "ContactWrite" })
  )
) {}

/** The content of a contact as it has it. */
export type Content = Pick<Contact, keyof ContactContent>

// What a write makes of a contact

/** What an add or an update writes, whose status is written as it is given by default. A date of consent that is `null` is not given there, where a write would remove it. */
export const writeOf = (
  payload: ContactPayload | ContactUpdatePayload,
  resubscribe: Resubscribe = everyStatus
): ContactWrite => {
  if (!("consent" in payload) || payload.consent?.date !== null) {
    return resubscribe === false ? payload : { ...payload, resubscribe }
  }
  const { date: _, ...consent } = payload.consent
  return { ...payload, consent, resubscribe }
}

/** Fields of which one that is null, undefined or empty has no value. */
type Loose<A> = { readonly [Name in keyof A]: A[Name] | null | undefined }

const isGiven = <A>(value: A | null | undefined): value is A => value != null && value !== ""

const areAllGiven = (fields: Loose<CustomFields>): fields is CustomFields => {
  for (const name in fields) if (!isGiven(fields[name])) return false
  return true
}

/** The custom fields that are not empty, or `undefined` for none. */
const givenFields = (fields: Loose<CustomFields> = {}): CustomFields | undefined => {
  const isText = (entry: readonly [string, string | null | undefined]): entry is [string, string] => isGiven(entry[1])
  // `fromEntries` keeps `__proto__`, which an assignment would not.
  const given = areAllGiven(fields) ? fields : Object.fromEntries(Object.entries(fields).filter(isText))
  for (const _ in given) return given
  return undefined
}

const contentIn = ({
  consent,
  customFields,
  firstName,
  lastName,
  status
}: Loose<Omit<ContactContent, "consent" | "customFields">> & {
  readonly customFields?: Loose<CustomFields> | undefined
  readonly consent?: Loose<Consent> | undefined
}): Content => {
  const content: Types.Mutable<Content> = {}
  if (isGiven(status)) content.status = status
  if (isGiven(firstName)) content.firstName = firstName
  if (isGiven(lastName)) content.lastName = lastName
  const texts = givenFields(customFields)
  if (texts !== undefined) content.customFields = texts
  if (consent === undefined) return content
  const agreed: Types.Mutable<Consent> = {}
  if (isGiven(consent.ip)) agreed.ip = consent.ip
  if (isGiven(consent.date)) agreed.date = consent.date
  if (isGiven(consent.tracking)) agreed.tracking = consent.tracking
  if (Object.keys(agreed).length > 0) content.consent = agreed
  return content
}

/** The content of a contact in one form: what has no value is left out, and so are an empty text and an empty record. */
export const contentOf: (contact: ContactContent) => Content = contentIn

const or = <A>(value: A | undefined, otherwise: A | undefined): A | undefined =>
  value === undefined ? otherwise : value

/** The fields keep the spelling that they have first, and an empty text or `null` removes one. */
const mergedFields = (
  below: CustomFields | undefined,
  above: Loose<CustomFields> | undefined
): Loose<CustomFields> | undefined =>
  below === undefined || above === undefined
    ? (above ?? below)
    : // A spread keeps `__proto__`, which an assignment would not.
      { ...below, ...renamed(above, spellingsOf(below)) }

/**
 * The content that a write makes of a contact, or of none: a given value wins, custom fields and consent are merged one by
 * one, and the status is that of `statusAfter`.
 */
export const contentAfter = (before: ContactContent | null, write: ContactWrite): Content => {
  const { consent } = write
  const now = before === null ? {} : contentOf(before)
  return contentIn({
    status: statusAfter(before, write),
    firstName: or(write.firstName, now.firstName),
    lastName: or(write.lastName, now.lastName),
    customFields: mergedFields(now.customFields, write.customFields),
    consent:
      consent === null
        ? undefined
        : consent === undefined
          ? now.consent
          : {
              ip: or(consent.ip, now.consent?.ip),
              date: or(consent.date && DateTime.startOf(consent.date, "second"), now.consent?.date),
              tracking: or(consent.tracking, now.consent?.tracking)
            }
  })
}

/** A contact with another content. It has custom fields even if there are none, as one that is read. */
export const withContent = (contact: Contact, content: Content): Contact => {
  const { consent: _, customFields: _fields, firstName: _first, lastName: _last, status: _status, ...others } = contact
  return { ...others, customFields: {}, ...content }
}

/** A write of the contact of an address, and what the contact is written with. */
export interface WrittenBy {
  /** The address, in the spelling that a new contact has. */
  readonly email: string
  /** What is written. */
  readonly write: ContactWrite
  /** How a new contact is added. */
  readonly source: ContactSource
  /** When. */
  readonly date: DateTime.Utc
}

/** What a service says of a contact to whom nothing has happened. */
const nothingYet = {
  dateUpdated: null,
  statusChangeDate: null,
  activity: {
    totalSent: 0,
    totalOpened: 0,
    totalClicked: 0,
    totalFailed: 0,
    lastSent: null,
    lastOpened: null,
    lastClicked: null,
    lastFailed: null,
    errorCode: null
  }
}

/** The contact that a write makes of none. */
export const newContact = ({ date, email, source, write }: WrittenBy): Contact => ({
  email: email.trim(),
  customFields: {},
  ...contentAfter(null, write),
  source,
  dateAdded: date,
  ...nothingYet
})

/** A date, but later than that of the status before: no two statuses of a contact have the same date. */
const laterThan = (before: DateTime.Utc | null | undefined, date: DateTime.Utc): DateTime.Utc =>
  before == null || DateTime.isLessThan(before, date) ? date : DateTime.add(before, { seconds: 1 })

/**
 * The contact to whom a write gives the status that stops mail again, which is an event: they left once more, so that an undo
 * of who said it before does not take it back. `undefined` if it gives none, or is the row of a file.
 */
export const saidAgain = (before: Contact, { date, source, write }: WrittenBy): Contact | undefined =>
  source === "FileUpload" || write.status !== before.status || strictnessOf(write.status) === 0
    ? undefined
    : { ...before, statusChangeDate: laterThan(before.statusChangeDate, date) }

/**
 * The contact that a write makes of another one, whose address, source, date of adding and activity stay: the same one if nothing
 * changes, which is not written; `undefined` if it would exceed the bounds of `ContactSize` together with what is there.
 */
export const contactAfter = (before: Contact, { date, write }: WrittenBy): Contact | undefined => {
  const content = contentAfter(before, write)
  if (sameContent(before, content)) return before
  const after = {
    ...withContent(before, content),
    dateUpdated: date,
    ...(content.status !== before.status && { statusChangeDate: laterThan(before.statusChangeDate, date) })
  }
  return ContactSize.mayBecome(before, after) ? after : undefined
}

const sameTexts = (one: CustomFields = {}, other: CustomFields = {}): boolean => {
  const [texts, others] = [byFoldedName(one), byFoldedName(other)]
  return texts.size === others.size && Array.from(texts).every(([name, text]) => others.get(name) === text)
}

const secondsOf = (date: DateTime.Utc | null | undefined): number | undefined =>
  date == null ? undefined : Math.floor(DateTime.toEpochMillis(date) / 1000)

/** Whether two contents have the same values; dates are compared by the second. */
export const sameContent = (one: ContactContent | null, other: ContactContent | null): boolean => {
  if (one === null || other === null) return one === other
  const [a, b] = [contentOf(one), contentOf(other)]
  return (
    a.status === b.status &&
    a.firstName === b.firstName &&
    a.lastName === b.lastName &&
    sameTexts(a.customFields, b.customFields) &&
    a.consent?.ip === b.consent?.ip &&
    a.consent?.tracking === b.consent?.tracking &&
    secondsOf(a.consent?.date) === secondsOf(b.consent?.date)
  )
}

type Lists = Pick<ContactWrite, "addToLists" | "removeFromLists">

/**
 * The lists of a contact after a change. The names of lists are equal as those of custom fields are, and one that the
 * contact is on keeps its spelling.
 */
export const listsAfter = (
  lists: Iterable<string>,
  { addToLists = [], removeFromLists = [] }: Lists = {}
): ReadonlyArray<string> => {
  const byName = new Map<string, string>()
  for (const name of [...lists, ...addToLists]) if (!byName.has(foldName(name))) byName.set(foldName(name), name)
  for (const name of removeFromLists) byName.delete(foldName(name))
  return [...byName.values()]
}

/** Whether the lists of a contact are as a change makes them. */
export const areListsSo = (lists: Iterable<string>, { addToLists = [], removeFromLists = [] }: Lists = {}): boolean => {
  if (addToLists.length + removeFromLists.length === 0) return true
  const names = new Set(Array.from(lists, foldName))
  return (
    addToLists.every((name) => names.has(foldName(name))) && !removeFromLists.some((name) => names.has(foldName(name)))
  )
}
