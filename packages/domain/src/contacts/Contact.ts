/** Contacts. (`packages/api/openapi.json`: Contact, ContactPayload; docs/decisions/records.md) */
import { type DateTime, Effect, Result, Schema } from "effect"
import { explained } from "../errors/Constructors.ts"
import { byFoldedName, foldName, valueByName } from "../values/FieldNames.ts"
import { InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import { contactCodec, payloadCodec } from "./ContactCodec.ts"
import { ContactRecord, PayloadRecord, UpdateRecord } from "./ContactRecord.ts"
import { withFastCodec } from "./FastContactCodec.ts"
import { givenInstant } from "../values/WireDate.ts"
import { TaggedError } from "../errors/TaggedError.ts"

/** A contact as the service returns it. Only the address is certain: a service may leave out every other field. */
export class Contact extends Schema.Opaque<Contact>()(withFastCodec(ContactRecord, contactCodec)) {}

/** What `ContactPayload.fromInput` makes a payload of: a contact to add, whose consent has a date of any kind. */
export interface ContactInput extends Omit<PayloadRecord, "consent"> {
  /** What the contact agreed to. */
  readonly consent?:
    | (Omit<NonNullable<PayloadRecord["consent"]>, "date"> & {
        /** When: a `Date`, milliseconds, a `DateTime` or an ISO text, which is UTC where it names no zone. */
        readonly date?: DateTime.DateTime.Input | null | undefined
      })
    | undefined
}

/** A contact to add. An existing one keeps omitted profile fields, and its status unless one is given. */
export class ContactPayload extends Schema.Opaque<ContactPayload>()(
  explained(withFastCodec(PayloadRecord, payloadCodec))
) {
  /** Makes the payload of a contact whose consent has a date of any kind: `{ email, consent: { date: new Date(), ip } }`. */
  static readonly fromInput = (input: ContactInput): Effect.Effect<ContactPayload, InvalidInput> =>
    Effect.suspend(() => Effect.fromResult(payloadOfInput(input)))
  /**
   * What can be written back of a contact that was read. Fails for what only another service may hold: an address outside
   * our grammar, or a value that this version does not know.
   */
  static readonly fromContact = (contact: Contact): Effect.Effect<ContactPayload, InvalidInput> =>
    Effect.suspend(() => Effect.fromResult(payloadOf(contact)))
}

/**
 * The value of a custom field by any spelling of its name, as rules read it: `fieldOf(contact, "City")` is that of `city` too, since a
 * contact keeps the spelling with which a field was first written.
 */
export const fieldOf = ({ customFields }: Pick<Contact, "customFields">, name: string): string | undefined =>
  valueByName(customFields ?? {}, name)

/** The changes to one contact. Fields that are left out stay unchanged; custom fields are merged key by key. */
export class ContactUpdatePayload extends Schema.Opaque<ContactUpdatePayload>()(explained(UpdateRecord)) {
  /** What an update can write back of a contact that was read: its names and custom fields. */
  static readonly fromContact = ({ customFields, firstName, lastName }: Contact): ContactUpdatePayload => ({
    firstName,
    lastName,
    customFields
  })
}

/** A date of null changes nothing, so it shows nothing. */
const sentConsent = (
  stored: NonNullable<Contact["consent"]>,
  sent: NonNullable<ContactPayload["consent"]>
): NonNullable<Contact["consent"]> => ({
  ...(sent.ip !== undefined && stored.ip !== undefined && { ip: stored.ip }),
  ...(sent.date !== undefined && sent.date !== null && stored.date !== undefined && { date: stored.date }),
  ...(sent.tracking !== undefined && stored.tracking !== undefined && { tracking: stored.tracking })
})

/**
 * What a caller who may change a contact but not view it learns of it: the address as it was sent, and each field that was
 * sent, as it is stored now. (docs/decisions/access.md)
 */
export const sentPart = (
  { consent, customFields = {}, firstName, lastName, status }: Contact,
  sent: Partial<Omit<ContactPayload, "email">> & { readonly email: string }
): Contact => {
  const storedFields = (given: object) => {
    const stored = byFoldedName(customFields)
    return Object.fromEntries(
      Object.keys(given).flatMap((name) => {
        const value = stored.get(foldName(name))
        return value === undefined ? [] : [[name, value]]
      })
    )
  }
  return {
    email: sent.email,
    ...(sent.status !== undefined && status !== undefined && { status }),
    ...(sent.firstName !== undefined && firstName !== undefined && { firstName }),
    ...(sent.lastName !== undefined && lastName !== undefined && { lastName }),
    ...(sent.customFields !== undefined && { customFields: storedFields(sent.customFields) }),
    ...(sent.consent !== undefined && consent !== undefined && { consent: sentConsent(consent, sent.consent) })
  }
}

const checkPayload = Schema.decodeUnknownResult(Schema.toType(PayloadRecord))

const payloadOfInput = (input: ContactInput): Result.Result<ContactPayload, InvalidInput> => {
  const { date } = input.consent ?? {}
  const instant = date == null ? date : givenInstant(date)
  if (date != null && instant === undefined) {
    const issue = "it is not a date and time that exists, in UTC unless it names a zone"
    return Result.fail(new InvalidInput({ field: "consent.date", issue }))
  }
  const payload = date == null ? input : { ...input, consent: { ...input.consent, date: instant } }
  return Result.mapError(checkPayload(payload), (error) => invalidInput(error))
}

const encodeContact = Schema.encodeUnknownResult(Contact)
const decodePayload = Schema.decodeUnknownResult(PayloadRecord)

/** A consent without a date has `null`, which is sent as it is. */
const payloadOf = (contact: Contact): Result.Result<ContactPayload, InvalidInput> =>
  encodeContact(contact).pipe(
    Result.flatMap(({ Consent, CustomFields, Email, FirstName, LastName, Status }) => {
      const record = { Email, Status, FirstName, LastName, CustomFields, Consent }
      return decodePayload(Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)))
    }),
    Result.mapError((error) => invalidInput(error))
  )

/** The maximum number of contacts in one add. Larger sets are imported. */
export const maximumContactsPerAdd = 1000

/** The request has more contacts than are allowed. */
export class TooManyContacts extends TaggedError<TooManyContacts>()("TooManyContacts", {
  /** The number of contacts in the request. */
  count: Schema.Int,
  /** The number that a request may have. */
  maximum: Schema.Int
}) {
  override get message(): string {
    return (
      `${this.count} contacts in one request, but at most ${this.maximum} are allowed. Send them in parts, or ` +
      "import them as a file."
    )
  }
}

/** There is no contact with this address. */
export class ContactNotFound extends TaggedError<ContactNotFound>()("ContactNotFound", {
  /** The address that was asked for. */
  email: Schema.String
}) {
  override get message(): string {
    return `There is no contact ${this.email}.`
  }
}
