/**
 * What is written of a contact, and what a write makes of the contact that was there: the one rule of adds, imports, updates
 * and conditional changes on every layer. (docs/decisions/upsert.md, docs/decisions/changes.md)
 */
import { DateTime, Schema, type Types } from "effect"
import { explained } from "../errors/Constructors.ts"
import { nullableRequestField, requestField } from "../values/OptionalField.ts"
import { GivenDate } from "../values/WireDate.ts"
import { openLiterals, payloadRecord } from "../values/WireRecord.ts"
import type { Contact } from "./Contact.ts"
import {
  Consent,
  ConsentTracking,
  ContactRecord,
  ContactStatus,
  CustomFields,
  fewNames,
  mergedFields,
  withUniqueNames
} from "./ContactRecord.ts"
import { byFoldedName, foldName } from "../values/FieldNames.ts"
import { statusKept } from "./Resubscription.ts"

/**
 * What a change compares of a contact: no dates but that of the consent, no source, activity or lists. A `Contact` that
 * was read is one as it is.
 */
export const ContactContent = explained(
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
export interface ContactContent extends Schema.Schema.Type<typeof ContactContent> {}

const nullableText = nullableRequestField(Schema.String)

/** What to write. A field that is left out stays as it is, and `null` removes one. */
export const ContactWrite = explained(
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
    /** Whether a contact that gets no mail may be made one that does (default: false, and it keeps its status). */
    resubscribe: requestField(Schema.Boolean)
  }).annotate({ identifier: "ContactWrite" })
)
export interface ContactWrite extends Schema.Schema.Type<typeof ContactWrite> {}

/** The content of a contact as it has it. */
export type Content = Pick<Contact, keyof ContactContent>

/** Fields of which one that is null, undefined or empty has no value. */
type Loose<A> = { readonly [Name in keyof A]: A[Name] | null | undefined }

const isGiven = <A>(value: A | null | undefined): value is A => value != null && value !== ""

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
  const texts = Object.entries(customFields ?? {}).flatMap(([name, text]) =>
    isGiven(text) ? [[name, text] as const] : []
  )
  if (texts.length > 0) content.customFields = Object.fromEntries(texts)
  const agreed: Types.Mutable<Consent> = {}
  if (isGiven(consent?.ip)) agreed.ip = consent.ip
  if (isGiven(consent?.date)) agreed.date = consent.date
  if (isGiven(consent?.tracking)) agreed.tracking = consent.tracking
  if (Object.keys(agreed).length > 0) content.consent = agreed
  return content
}

/** The content of a contact in one form: what has no value is left out, and so are an empty text and an empty record. */
export const contentOf: (contact: ContactContent) => Content = contentIn

const or = <A>(value: A | undefined, otherwise: A | undefined): A | undefined =>
  value === undefined ? otherwise : value

/** The content that a write makes of a contact, or of none. */
export const contentAfter = (before: ContactContent | null, write: ContactWrite): Content => {
  const { consent, resubscribe = false, status } = write
  const now = contentOf(before ?? { status: "Active" })
  const keepsStatus = !resubscribe && statusKept(before?.status, status) !== undefined
  const texts = Object.entries(write.customFields ?? {}).map(([name, value]) => [name, value ?? ""] as const)
  return contentIn({
    status: keepsStatus ? now.status : or(status, now.status),
    firstName: or(write.firstName, now.firstName),
    lastName: or(write.lastName, now.lastName),
    customFields: mergedFields(now.customFields ?? {}, Object.fromEntries(texts)),
    consent:
      consent === null
        ? undefined
        : {
            ip: or(consent?.ip, now.consent?.ip),
            date: or(consent?.date, now.consent?.date),
            tracking: or(consent?.tracking, now.consent?.tracking)
          }
  })
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
