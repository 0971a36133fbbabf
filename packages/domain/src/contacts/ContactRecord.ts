/** The fields of contacts and the exact schemas of their records, two of which `Contact.ts` adds the fast codec to. */
import { Schema } from "effect"
import { statuses } from "../values/AddMode.ts"
import { EmailAddress } from "./EmailAddress.ts"
import { hasEqualNames, hasManyNames, maximumNames } from "../values/FieldNames.ts"
import {
  answerDate,
  answerField,
  AnswerText,
  answerTexts,
  inputText,
  nullableAnswerDate,
  nullableRequestField,
  refusedField,
  requestField
} from "../values/OptionalField.ts"
import { GivenDate } from "../values/WireDate.ts"
import { openLiterals, payloadRecord, wireRecord, type Named } from "../values/WireRecord.ts"

/** The status of a contact. The last six statuses receive no mail. */
export const ContactStatus = Schema.Literals(statuses)
export type ContactStatus = Named<typeof ContactStatus.Type>

const mailedStatuses: ReadonlySet<unknown> = new Set<ContactStatus>(["Active", "Engaged", "Transactional"])

/** Whether contacts with this status get mail. */
export const isMailedStatus = (status: unknown): boolean => mailedStatuses.has(status)

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
export type ContactSource = Named<typeof ContactSource.Type>

/** Whether opens and clicks of a contact may be tracked. */
export const ConsentTracking = Schema.Literals(["Unknown", "Allow", "Deny"])
export type ConsentTracking = typeof ConsentTracking.Type

/** Bounds the names of a record, so that it is read in a few milliseconds. */
export const fewNames = Schema.isMaxProperties(maximumNames, { expected: `at most ${maximumNames} names` })

/** The custom fields of an account. Values are texts, numbers included. */
export const CustomFields = Schema.Record(Schema.String, Schema.String).check(fewNames)
export interface CustomFields extends Schema.Schema.Type<typeof CustomFields> {}

/** Refuses a record that gives one custom field under two names. */
export const withUniqueNames = <S extends Schema.Codec<{ readonly [name: string]: unknown }, unknown>>(schema: S) =>
  schema.check(
    Schema.makeFilter((fields) =>
      // Too many fields are refused for their number.
      !hasManyNames(fields) && hasEqualNames(fields)
        ? "the names of two custom fields differ at most in case or in how their accents are written, so they are one field"
        : undefined
    )
  )

const optionalText = answerField(AnswerText)
const optionalCount = answerField(Schema.Int)

const consentNames = { ip: "ConsentIP", date: "ConsentDate", tracking: "ConsentTracking" } as const

/** The consent of a contact: what they agreed to, when and from which IP address. */
export class Consent extends Schema.Opaque<Consent>()(
  wireRecord(
    {
      /** The IP address from which the contact agreed. */
      ip: optionalText,
      /** When the contact agreed, in UTC; `null` if nobody knows. */
      date: nullableAnswerDate,
      /** Whether opens and clicks may be tracked. */
      tracking: answerField(openLiterals(ConsentTracking))
    },
    consentNames
  )
) {}

const givenText = requestField(Schema.String)

const ConsentPayload = payloadRecord(
  "the consent of a contact",
  { ip: givenText, date: nullableRequestField(GivenDate), tracking: requestField(ConsentTracking) },
  { others: consentNames }
)

/** The mail that a contact received, and how they reacted. */
export class ContactActivity extends Schema.Opaque<ContactActivity>()(
  wireRecord({
    /** The number of messages sent to the contact. */
    totalSent: optionalCount,
    /** The number of times that the contact opened a message. */
    totalOpened: optionalCount,
    /** The number of times that the contact followed a link in a message. */
    totalClicked: optionalCount,
    /** The number of messages that could not be delivered. */
    totalFailed: optionalCount,
    /** When the last message was sent, in UTC; `null` if none was. */
    lastSent: nullableAnswerDate,
    /** When the contact last opened a message, in UTC; `null` if never. */
    lastOpened: nullableAnswerDate,
    /** When the contact last followed a link, in UTC; `null` if never. */
    lastClicked: nullableAnswerDate,
    /** When a message last could not be delivered, in UTC; `null` if never. */
    lastFailed: nullableAnswerDate,
    /** The IP address from which the contact last reacted. */
    lastIP: optionalText,
    /** The code of the last failed delivery; `null` if there was none. */
    errorCode: Schema.optionalKey(Schema.NullOr(Schema.Int)),
    /** Why the last delivery failed, in words. */
    friendlyErrorMessage: optionalText
  })
) {}

/** The exact schema of `Contact`. */
export const ContactRecord = wireRecord({
  /** The e-mail address, in the spelling that it was first added with. */
  email: Schema.String,
  /** Whether the contact gets mail, and if not, why. */
  status: answerField(openLiterals(ContactStatus)),
  /** The first name. */
  firstName: optionalText,
  /** The last name. */
  lastName: optionalText,
  /** The custom fields by name. Every value is a text. */
  customFields: answerTexts,
  /** What the contact agreed to. */
  consent: answerField(Consent),
  /** How the contact was added. */
  source: answerField(openLiterals(ContactSource)),
  /** When the contact was added, in UTC and whole seconds. */
  dateAdded: answerDate,
  /** When a field last changed, in UTC; `null` if none has. */
  dateUpdated: nullableAnswerDate,
  /** When the status last changed, in UTC; `null` if it has not. */
  statusChangeDate: nullableAnswerDate,
  /** The mail that the contact received, and how they reacted. */
  activity: answerField(ContactActivity),
  /** The names of its lists in alphabetical order, which only a service of ours tells, and only where they are asked for. */
  lists: answerField(Schema.Array(Schema.String))
}).annotate({ identifier: "Contact" })
export interface ContactRecord extends Schema.Schema.Type<typeof ContactRecord> {}

/** What an add and a change may give. */
const givenFields = {
  /** The first name. */
  firstName: givenText,
  /** The last name. */
  lastName: givenText,
  /** The custom fields by name. A given one replaces its value, and an empty text removes it. */
  customFields: requestField(withUniqueNames(CustomFields))
}

const notWritten = Object.keys(ContactRecord.to.fields)

/** The exact schema of `ContactPayload`. */
export const PayloadRecord = payloadRecord(
  "a contact",
  {
    /** The e-mail address, in the spelling that it was first added with. */
    email: inputText(EmailAddress),
    /** Whether the contact gets mail, and if not, why. */
    status: requestField(ContactStatus),
    ...givenFields,
    /** What the contact agreed to. */
    consent: requestField(ConsentPayload)
  },
  { notWritten, madeBy: "ContactPayload.fromContact" }
).annotate({ identifier: "ContactPayload" })
export interface PayloadRecord extends Schema.Schema.Type<typeof PayloadRecord> {}

/** A field of contacts that an update does not change, and refuses rather than leaving it out. */
const notChanged = (what: string) =>
  refusedField(
    `an update does not change ${what}; "change" does, or "changeAsRun", or "add", which may create the contact`
  )

/** The exact schema of `ContactUpdatePayload`. */
export const UpdateRecord = payloadRecord(
  "an update",
  {
    ...givenFields,
    /** Not changed by an update: see `change`, `changeAsRun` and `add`. */
    status: notChanged("the status"),
    /** Not changed by an update: see `change` and `add`. */
    consent: notChanged("the consent")
  },
  { notWritten, madeBy: "ContactUpdatePayload.fromContact" }
).annotate({ identifier: "ContactUpdatePayload" })
export interface UpdateRecord extends Schema.Schema.Type<typeof UpdateRecord> {}
