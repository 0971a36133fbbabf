/**
 * A contact: a person, known by an e-mail address, with what the service holds about them.
 * (Service interface, Resources: Contact, ContactPayload, ContactUpdatePayload; docs/decisions/records.md)
 */
import { Schema, SchemaAST, SchemaParser } from "effect"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import { EmailAddress } from "../values/EmailAddress.ts"
import { decodePlainContact } from "./FastContactDecoder.ts"
import { encodePlainContact } from "./FastContactEncoder.ts"
import { plainPayload } from "./FastPayloadDecoder.ts"
import { nullableRequestField, requestField } from "../values/RequestField.ts"
import { openLiterals } from "../values/OpenLiterals.ts"
import { WireDate } from "../values/WireDate.ts"

/** Whether and how a contact can be written to. The last six are not eligible to be sent to. */
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

/** How a contact came into the store. */
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

/** Fields of the account's own making. Values are texts, for numbers too. */
export const CustomFields = Schema.Record(Schema.String, Schema.String)
export type CustomFields = typeof CustomFields.Type

const optionalDate = Schema.optionalKey(Schema.NullOr(WireDate))
const optionalText = Schema.optionalKey(Schema.String)
const optionalCount = Schema.optionalKey(Schema.Int)

const consentKeys = { ip: "ConsentIP", date: "ConsentDate", tracking: "ConsentTracking" } as const

/** What a contact agreed to, when and from where. */
export const Consent = Schema.Struct({
  ip: optionalText,
  date: optionalDate,
  tracking: Schema.optionalKey(openLiterals(ConsentTracking))
}).pipe(Schema.encodeKeys(consentKeys))
export type Consent = typeof Consent.Type

const givenText = requestField(Schema.String)

const ConsentPayload = Schema.Struct({
  ip: givenText,
  date: nullableRequestField(WireDate),
  tracking: requestField(ConsentTracking)
}).pipe(Schema.encodeKeys(consentKeys))

/** What mail to a contact led to. */
export const ContactActivity = Schema.Struct({
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
}).pipe(
  Schema.encodeKeys({
    totalSent: "TotalSent",
    totalOpened: "TotalOpened",
    totalClicked: "TotalClicked",
    totalFailed: "TotalFailed",
    lastSent: "LastSent",
    lastOpened: "LastOpened",
    lastClicked: "LastClicked",
    lastFailed: "LastFailed",
    lastIP: "LastIP",
    errorCode: "ErrorCode",
    friendlyErrorMessage: "FriendlyErrorMessage"
  })
)
export type ContactActivity = typeof ContactActivity.Type

/** A contact as the service answers it. Only the address is certain: a service may leave out every other field. */
export const Contact = Schema.Struct({
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
}).pipe(
  Schema.encodeKeys({
    email: "Email",
    status: "Status",
    firstName: "FirstName",
    lastName: "LastName",
    customFields: "CustomFields",
    consent: "Consent",
    source: "Source",
    dateAdded: "DateAdded",
    dateUpdated: "DateUpdated",
    statusChangeDate: "StatusChangeDate",
    activity: "Activity"
  }),
  Schema.annotate({ identifier: "Contact" })
)
export type Contact = typeof Contact.Type

// The plain ones take the short way, in whichever schema they stand.
const exactContact = Contact.annotate({})
SchemaCompiler.set(Contact.ast, {
  decode: decodePlainContact,
  decodeEffect: SchemaParser.decodeUnknownEffect(exactContact)
})
SchemaCompiler.set(SchemaAST.flip(Contact.ast), {
  decode: encodePlainContact,
  decodeEffect: SchemaParser.encodeUnknownEffect(exactContact)
})

/**
 * A contact to add. An address that exists already is updated: profile fields are merged, the status changes only where
 * the payload names one.
 */
export const ContactPayload = Schema.Struct({
  email: EmailAddress,
  status: requestField(ContactStatus),
  firstName: givenText,
  lastName: givenText,
  customFields: requestField(CustomFields),
  consent: requestField(ConsentPayload)
}).pipe(
  Schema.encodeKeys({
    email: "Email",
    status: "Status",
    firstName: "FirstName",
    lastName: "LastName",
    customFields: "CustomFields",
    consent: "Consent"
  }),
  Schema.annotate({ identifier: "ContactPayload" })
)
export type ContactPayload = typeof ContactPayload.Type

const plain = plainPayload(ContactStatus.literals, ConsentTracking.literals)
const exactPayload = ContactPayload.annotate({})
SchemaCompiler.set(ContactPayload.ast, {
  decode: plain.decode,
  decodeEffect: SchemaParser.decodeUnknownEffect(exactPayload)
})
SchemaCompiler.set(SchemaAST.flip(ContactPayload.ast), {
  decode: plain.encode,
  decodeEffect: SchemaParser.encodeUnknownEffect(exactPayload)
})

/**
 * What of a contact can be changed by address. What is left out stays as it is; custom fields are merged key by key.
 */
export const ContactUpdatePayload = Schema.Struct({
  firstName: givenText,
  lastName: givenText,
  customFields: requestField(CustomFields)
}).pipe(
  Schema.encodeKeys({ firstName: "FirstName", lastName: "LastName", customFields: "CustomFields" }),
  Schema.annotate({ identifier: "ContactUpdatePayload" })
)
export type ContactUpdatePayload = typeof ContactUpdatePayload.Type

/**
 * The most contacts that one add may carry. Larger sets are imported.
 * (Service interface, Limits.)
 */
export const maximumContactsPerAdd = 1000

export class TooManyContacts extends Schema.TaggedError<TooManyContacts>()("TooManyContacts", {
  count: Schema.Int,
  maximum: Schema.Int
}) {
  override get message(): string {
    return `${this.count} contacts in one request, but at most ${this.maximum} are allowed. Send them in parts, or import them as a file.`
  }
}

export class ContactNotFound extends Schema.TaggedError<ContactNotFound>()("ContactNotFound", {
  email: Schema.String
}) {
  override get message(): string {
    return `There is no contact ${this.email}.`
  }
}

export class ListNotFound extends Schema.TaggedError<ListNotFound>()("ListNotFound", {
  name: Schema.String
}) {
  override get message(): string {
    return `There is no list "${this.name}". Lists come into being when contacts are added with their name.`
  }
}
