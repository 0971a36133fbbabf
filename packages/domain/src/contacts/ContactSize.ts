/**
 * The bounds of a contact, for what is sent and for what it becomes together with what is stored. With them 1000
 * contacts fit into a request and into a page. (docs/limits.md)
 */
import { codeField } from "../values/WireRecord.ts"
import type { ContactParts } from "./ContactField.ts"
import { textFields, wireRecordOf } from "./ContactFields.ts"
import type { CustomFields } from "./ContactRecord.ts"

/** The maximum number of custom fields of a contact. */
export const maximumCustomFields = 250

/** The maximum length of the name of a custom field, in UTF-16 units. */
export const maximumCustomFieldName = 200

/** The maximum size of a contact in bytes: its texts (address, names, custom fields, ConsentIP) as JSON on the wire. */
export const maximumContactBytes = 32 * 1024

/** The texts of a contact, whose number and length only the bounds limit. */
export interface ContactTexts {
  /** In the order of `textFields`. */
  readonly texts: ReadonlyArray<string | undefined>
  /** The custom fields by name. */
  readonly customFields?: CustomFields | undefined
}

/** Why a contact cannot be stored. */
export interface ContactIssue {
  /** The field, by its name in code. */
  readonly field: string
  /** What is wrong with it. */
  readonly issue: string
  /** The same without what differs from contact to contact. */
  readonly cause?: string
  /** The name of the custom field that it is about. */
  readonly name?: string
}

const utf8 = new TextEncoder()

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** The texts of a contact. */
export const textsOf = (contact: ContactParts): ContactTexts => ({
  texts: textFields.map(({ read }) => textOf(read(contact))),
  customFields: contact.customFields ?? undefined
})

const unitsOf = (texts: ContactTexts["texts"]): number => texts.reduce((sum, text = "") => sum + text.length, 0)

const bytesOf = ({ customFields, texts }: ContactTexts): number => {
  const given = textFields.flatMap(({ path }, index) =>
    texts[index] === undefined ? [] : ([[path, texts[index]]] as const)
  )
  return utf8.encode(JSON.stringify(wireRecordOf([...given, ["CustomFields", customFields]]))).length
}

/** The maximum number of bytes of a UTF-16 unit in JSON, and of the punctuation of a custom field. */
const longestEscape = 6

/** An upper bound for the names and the punctuation of a record, in bytes. */
const recordBytes = textFields.reduce((sum, { path }) => sum + path.length + 10, 22)

/** The field of a contact with the longest texts, by its name in code. */
export const longestField = (contact: ContactParts): string => {
  const { customFields = {}, texts } = textsOf(contact)
  let [longest, length] = ["customFields", unitsOf(Object.entries(customFields).flat())]
  for (const [index, { path }] of textFields.entries()) {
    const units = texts[index]?.length ?? 0
    // An address is never too long.
    if (units > length && path !== "Email") [longest, length] = [codeField(path), units]
  }
  return longest
}

/** An upper bound for the bytes of a contact as JSON, consent and status included. It takes little time. */
export const mostBytes = (contact: ContactParts): number => {
  let units = 0
  for (const { read } of textFields) units += textOf(read(contact))?.length ?? 0
  const { customFields } = contact
  for (const name in customFields) units += name.length + (customFields[name]?.length ?? 0) + 1
  return longestEscape * units + 3 * recordBytes
}

/** Why a contact that was sent is too large, and in which field, or `undefined`. It stops soon after the bound. */
export const contactSizeIssue = (contact: ContactParts): ContactIssue | undefined => {
  const texts = textsOf(contact)
  const { customFields } = texts
  let units = unitsOf(texts.texts)
  let count = 0
  for (const name in customFields) {
    if (++count > maximumCustomFields) {
      return { field: "customFields", issue: `a contact has at most ${maximumCustomFields} custom fields` }
    }
    if (name.length > maximumCustomFieldName) {
      const issue = `the name of a custom field has at most ${maximumCustomFieldName} characters`
      return { field: "customFields", issue, name }
    }
    units += name.length + (customFields[name]?.length ?? 0)
  }
  if (longestEscape * (units + count) + recordBytes <= maximumContactBytes) return undefined
  const bytes = bytesOf(texts)
  if (bytes <= maximumContactBytes) return undefined
  const cause = `a contact has at most ${maximumContactBytes} bytes of JSON`
  return { field: longestField(contact), issue: `${cause}, and this one has ${bytes}`, cause }
}

/** Why a change is refused that would make the stored contact too large. */
export const mergedSizeIssue =
  `with what is stored, the contact would have more than ${maximumCustomFields} custom fields ` +
  `or more than ${maximumContactBytes} bytes of JSON; change a contact that is already larger alone, or delete it`

const fieldsOf = ({ customFields }: ContactParts): number => Object.keys(customFields ?? {}).length

/** Whether a stored contact may become another: within the bounds, or no larger than it was if it exceeds them already. */
export const mayBecome = (before: ContactParts, after: ContactParts): boolean => {
  const fields = fieldsOf(after)
  if (fields > maximumCustomFields && fields > fieldsOf(before)) return false
  if (mostBytes(after) <= maximumContactBytes) return true
  const bytes = bytesOf(textsOf(after))
  return bytes <= maximumContactBytes || bytes <= bytesOf(textsOf(before))
}
