/**
 * What no store takes of a contact that its schema does: its size, texts that no database keeps, names of custom fields that columns
 * have. Previews ask it as stores do, so that they refuse the same. (docs/limits.md)
 */
import { maximumListsOfContact } from "../contacts/AddSize.ts"
import type { ContactParts } from "../contacts/ContactField.ts"
import { textFields } from "../contacts/ContactFields.ts"
import { type ContactIssue, contactSizeIssue, longestField, mergedSizeIssue } from "../contacts/ContactSize.ts"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { quoted } from "../values/DidYouMean.ts"
import { codeField } from "../values/WireRecord.ts"
import { isRecordColumn, reservedNameIssue } from "./ColumnNames.ts"

const textIssue = (text: string): string | undefined => {
  if (text.includes("\0")) return "a text has no NUL character"
  return text.isWellFormed() ? undefined : "a text has no broken characters (lone surrogates)"
}

const nameIssue = (name: string): string | undefined => {
  if (name.trim() === "") return "the name of a custom field is blank"
  if (name !== name.trim()) return `the custom field ${quoted(name)} has a space at one end of its name`
  return isRecordColumn(name) ? reservedNameIssue(name) : textIssue(name)
}

/** Why a contact that is to be written cannot be stored, or `undefined`. */
export const contactIssue = (contact: ContactParts): ContactIssue | undefined => {
  const size = contactSizeIssue(contact)
  if (size !== undefined) return size
  for (const { path, read } of textFields) {
    const issue = textIssue(String(read(contact) ?? ""))
    if (issue !== undefined) return { field: codeField(path), issue }
  }
  for (const [name, value] of Object.entries(contact.customFields ?? {})) {
    const issue = nameIssue(name) ?? textIssue(value)
    if (issue !== undefined) return { field: "customFields", issue, name }
  }
  return undefined
}

/** The refusal of a contact that cannot be stored; `path` precedes the name of the field. */
export const contactRefusal = (contact: ContactParts, path = ""): InvalidInput | undefined => {
  const found = contactIssue(contact)
  return found === undefined ? undefined : new InvalidInput({ field: `${path}${found.field}`, issue: found.issue })
}

/** The refusal of a contact that would be too large together with what is stored. */
export const mergedRefusal = (contact: ContactParts, path = ""): InvalidInput =>
  new InvalidInput({ field: `${path}${longestField(contact)}`, issue: mergedSizeIssue })

/** The refusal of a contact that would be on more lists than one can be. */
export const listsRefusal = (field: string): InvalidInput =>
  new InvalidInput({ field, issue: `the contact would be on more than ${maximumListsOfContact} lists` })
