/** The fields of contacts and the exact schemas of their records, two of which `Contact.ts` adds the fast codec to. */
import { Schema } from "effect"
import { EmailAddress } from "./EmailAddress.ts"
import { hasEqualNames, renamed, spellingsOf } from "../values/FieldNames.ts"
import { inputText, nullableRequestField, refusedField, requestField } from "../values/RequestField.ts"
import { WireDate } from "../values/WireDate.ts"
import { openLiterals, payloadRecord, wireRecord } from "../values/WireRecord.ts"

/** The status of a contact. The last six statuses receive no mail. */
export const ContactStatus = Schema.Literals([
  "Transactional",
  "Engaged",
  "Active",
  "Bounced",
  "Unsubscribed",
  "Abuse",
  "Inactive",
  "Stale",
  "NotConfirmed"
])
export type ContactStatus = typeof ContactStatus.Type

/** How a contact was added. */
export const ContactSource = Schema.Literals([
  "DeliveryApi",
  "ManualInput",
  "FileUpload",
  "WebForm",
  "ContactApi",
  "VerificationApi",
  "FileVerificationApi",
  "PilotBillingPlan",
  "PaidNewsletter"
])
export type ContactSource = typeof ContactSource.Type

/** Whether opens and clicks of a contact may be tracked. */
export const ConsentTracking = Schema.Literals(["Unknown", "Allow", "Deny"])
export type ConsentTracking = typeof ConsentTracking.Type

/** The custom fields of an account. Values are texts, numbers included. */
export const CustomFields = Schema.Record(Schema.String, Schema.String)
export interface CustomFields extends Schema.Schema.Type<typeof CustomFields> {}

/** Merges custom fields: `above` replaces fields of `below`, which keep their spelling, and an empty text removes one. */
export const mergedFields = (below: CustomFields, above: CustomFields): CustomFields => {
  const given = renamed(above, spellingsOf(below))
  // A spread keeps `__proto__`, which an assignment would not.
  const merged: Record<string, string> = { ...below, ...given }
  for (const name in given) if (given[name] === "") delete merged[name]
  return merged
}

/** Refuses a record that gives one custom field under two names. */
export const withUniqueNames = <S extends Schema.Codec<{ readonly [name: string]: unknown }, unknown>>(schema: S) =>
  schema.check(
    Schema.makeFilter((fields) =>
      hasEqualNames(fields)
        ? "the names of two custom fields differ at most in case or in how their accents are written, so they are one field"
        : undefined
    )
  )

const optionalDate = Schema.optionalKey(Schema.NullOr(WireDate))
const optionalText = Schema.optionalKey(Schema.String)
const optionalCount = Schema.optionalKey(Schema.Int)

const consentNames = { ip: "ConsentIP", date: "ConsentDate", tracking: "ConsentTracking" } as const

/** The consent of a contact: what they agreed to, when and from which IP address. */
export const Consent = wireRecord(
  { ip: optionalText, date: optionalDate, tracking: Schema.optionalKey(openLiterals(ConsentTracking)) },
  consentNames
)
export interface Consent extends Schema.Schema.Type<typeof Consent> {}

const givenText = requestField(Schema.String)

const ConsentPayload = payloadRecord(
  "the consent of a contact",
  { ip: givenText, date: nullableRequestField(WireDate), tracking: requestField(ConsentTracking) },
  { others: consentNames }
)

/** The mail that a contact received, and how they reacted. */
export const ContactActivity = wireRecord({
  totalSent: optionalCount,
  totalOpened: optionalCount,
  totalClicked: optionalCount,
  totalFailed: optionalCount,
  lastSent: optionalDate,
  lastOpened: optionalDate,
  lastClicked: optionalDate,
  lastFailed: optionalDate,
  lastIP: optionalText,
  errorCode: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  friendlyErrorMessage: optionalText
})
export interface ContactActivity extends Schema.Schema.Type<typeof ContactActivity> {}

/** The exact schema of `Contact`. */
export const ContactRecord = wireRecord({
  email: Schema.String,
  status: Schema.optionalKey(openLiterals(ContactStatus)),
  firstName: optionalText,
  lastName: optionalText,
  customFields: Schema.optionalKey(CustomFields),
  consent: Schema.optionalKey(Consent),
  source: Schema.optionalKey(openLiterals(ContactSource)),
  dateAdded: Schema.optionalKey(WireDate),
  dateUpdated: optionalDate,
  statusChangeDate: optionalDate,
  activity: Schema.optionalKey(ContactActivity)
}).annotate({ identifier: "Contact" })
export interface ContactRecord extends Schema.Schema.Type<typeof ContactRecord> {}

/** What an add and a change may give. */
const givenFields = {
  firstName: givenText,
  lastName: givenText,
  customFields: requestField(withUniqueNames(CustomFields))
}

const notWritten = Object.keys(ContactRecord.to.fields)

/** The exact schema of `ContactPayload`. */
export const PayloadRecord = payloadRecord(
  "a contact",
  {
    email: inputText(EmailAddress),
    status: requestField(ContactStatus),
    ...givenFields,
    consent: requestField(ConsentPayload)
  },
  { notWritten, madeBy: "ContactPayload.fromContact" }
).annotate({ identifier: "ContactPayload" })
export interface PayloadRecord extends Schema.Schema.Type<typeof PayloadRecord> {}

/** A field of contacts that an update does not change, and refuses rather than leaving it out. */
const notChanged = (what: string) =>
  refusedField(
    `an update does not change ${what}; "change" does, or "changeStatus", or "add", which may create the contact`
  )

/** The exact schema of `ContactUpdatePayload`. */
export const UpdateRecord = payloadRecord(
  "an update",
  {
    ...givenFields,
    /** Not changed by an update: see `change`, `changeStatus` and `add`. */
    status: notChanged("the status"),
    /** Not changed by an update: see `change` and `add`. */
    consent: notChanged("the consent")
  },
  { notWritten, madeBy: "ContactUpdatePayload.fromContact" }
).annotate({ identifier: "ContactUpdatePayload" })
export interface UpdateRecord extends Schema.Schema.Type<typeof UpdateRecord> {}
