/**
 * The bounds of a contact, for what is sent and for what it becomes together with what is stored. With them 1000
 * contacts fit into a request and into a page. (docs/limits.md)
 */
import { encoded } from "../values/JsonBuffer.ts"
import type { CustomFields } from "./ContactRecord.ts"

/** The maximum number of custom fields of a contact. */
export const maximumCustomFields = 250

/** The maximum length of the name of a custom field, in UTF-16 units. */
export const maximumCustomFieldName = 200

/** The maximum size of a contact in bytes: its texts (address, names, custom fields, ConsentIP) as JSON on the wire. */
export const maximumContactBytes = 32 * 1024

/** The texts of a contact, whose number and length only the bounds limit. */
export interface ContactTexts {
  readonly email?: string | undefined
  readonly firstName?: string | undefined
  readonly lastName?: string | undefined
  readonly customFields?: CustomFields | undefined
  readonly consent?: { readonly ip?: string | undefined } | undefined
}

/** The maximum number of bytes of a UTF-16 unit in JSON, and of the punctuation of a custom field. */
const longestEscape = 6

/** An upper bound for the names and the punctuation of a record, in bytes. */
const recordBytes = 100

/** A contact whose texts have at most this many bytes, its custom fields as JSON, is not too large: each takes 7 or more. */
export const smallContactBytes = Math.min(
  7 * maximumCustomFields,
  Math.floor((maximumContactBytes - recordBytes) / longestEscape)
)

const bytesOf = ({ consent, customFields, email, firstName, lastName }: ContactTexts): number =>
  encoded(
    JSON.stringify({
      Email: email,
      FirstName: firstName,
      LastName: lastName,
      CustomFields: customFields,
      Consent: consent?.ip === undefined ? undefined : { ConsentIP: consent.ip }
    })
  ).length

/** The field of a contact with the longest texts, by its name on the wire. */
export const longestField = ({ consent, customFields = {}, firstName, lastName }: ContactTexts): string => {
  const lengths = {
    CustomFields: Object.entries(customFields).reduce((sum, [name, value]) => sum + name.length + value.length, 0),
    FirstName: firstName?.length ?? 0,
    LastName: lastName?.length ?? 0,
    "Consent.ConsentIP": consent?.ip?.length ?? 0
  }
  const [[longest] = ["CustomFields"]] = Object.entries(lengths).sort(([, one], [, other]) => other - one)
  return longest
}

/** An upper bound for the bytes of a contact as JSON, consent and status included. It takes little time. */
export const mostBytes = ({ consent, customFields, email, firstName, lastName }: ContactTexts): number => {
  let units = (email?.length ?? 0) + (firstName?.length ?? 0) + (lastName?.length ?? 0) + (consent?.ip?.length ?? 0)
  for (const name in customFields) units += name.length + (customFields[name]?.length ?? 0) + 1
  return longestEscape * units + 3 * recordBytes
}

/** Why a contact that was sent is too large, and in which field, or `undefined`. It stops soon after the bound. */
export const contactSizeIssue = (
  contact: ContactTexts
): { readonly field: string; readonly issue: string } | undefined => {
  const { consent, customFields, email = "", firstName = "", lastName = "" } = contact
  let units = email.length + firstName.length + lastName.length + (consent?.ip?.length ?? 0)
  let count = 0
  for (const name in customFields) {
    if (++count > maximumCustomFields) {
      return { field: "CustomFields", issue: `a contact has at most ${maximumCustomFields} custom fields` }
    }
    if (name.length > maximumCustomFieldName) {
      const issue = `the name of a custom field has at most ${maximumCustomFieldName} characters`
      return { field: "CustomFields", issue }
    }
    units += name.length + (customFields[name]?.length ?? 0)
  }
  if (longestEscape * (units + count) + recordBytes <= maximumContactBytes) return undefined
  const bytes = bytesOf(contact)
  if (bytes <= maximumContactBytes) return undefined
  const issue = `a contact has at most ${maximumContactBytes} bytes of JSON, and this one has ${bytes}`
  return { field: longestField(contact), issue }
}

/** Whether a contact is within the bounds for certain, by the JSON of its custom fields: faster than to make all its JSON. */
export const surelyFits = (json: string, contact: ContactTexts): boolean => {
  const { consent, customFields = {}, email = "", firstName = "", lastName = "" } = contact
  const others = email.length + firstName.length + lastName.length + (consent?.ip?.length ?? 0)
  return (
    encoded(json).length + longestEscape * others + recordBytes <= maximumContactBytes &&
    Object.keys(customFields).length <= maximumCustomFields
  )
}

/** Why a change is refused that would make the stored contact too large. */
export const mergedSizeIssue =
  `with what is stored, the contact would have more than ${maximumCustomFields} custom fields ` +
  `or more than ${maximumContactBytes} bytes of JSON; change a contact that is already larger alone, or delete it`

/** Whether a stored contact may become another: within the bounds, or no larger than it was if it exceeds them already. */
export const mayBecome = (before: ContactTexts, after: ContactTexts): boolean => {
  const fieldsOf = ({ customFields = {} }: ContactTexts) => Object.keys(customFields).length
  const [fields, bytes] = [fieldsOf(after), bytesOf(after)]
  return (
    (fields <= maximumCustomFields || fields <= fieldsOf(before)) &&
    (bytes <= maximumContactBytes || bytes <= bytesOf(before))
  )
}
