/**
 * What the store takes of a contact, beyond what the schemas say of its form.
 */
import {
  type ContactPayload,
  type ContactUpdatePayload,
  type CustomFields,
  emailAddressIssue,
  InvalidInput,
  isRecordColumn
} from "@roster/domain"
import { Effect } from "effect"

const textIssue = (text: string): string | undefined => {
  if (text.includes("\0")) return "a text has no NUL character"
  return text.isWellFormed() ? undefined : "a text has no broken characters (lone surrogates)"
}

const customFieldsIssue = (fields: CustomFields): string | undefined => {
  for (const [name, value] of Object.entries(fields)) {
    if (name.trim() === "" || name !== name.trim())
      return "the name of a custom field is not blank and has no space at its ends"
    if (isRecordColumn(name)) return "the name of a custom field is not that of a field that every contact has"
    const issue = textIssue(name) ?? textIssue(value)
    if (issue !== undefined) return issue
  }
  return undefined
}

const refuse = (field: string, issue: string | undefined) =>
  issue === undefined ? Effect.void : Effect.fail(new InvalidInput({ field, issue }))

/**
 * Checks the texts of a contact to be written; `path` stands before the name of the field in the refusal.
 *
 * @internal
 */
export const checkTexts = Effect.fnUntraced(function* (contact: ContactPayload | ContactUpdatePayload, path = "") {
  yield* refuse(`${path}FirstName`, textIssue(contact.firstName ?? ""))
  yield* refuse(`${path}LastName`, textIssue(contact.lastName ?? ""))
  yield* refuse(`${path}CustomFields`, customFieldsIssue(contact.customFields ?? {}))
  if ("consent" in contact) yield* refuse(`${path}ConsentIP`, textIssue(contact.consent?.ip ?? ""))
})

/**
 * Checks an address by which contacts are looked for.
 *
 * @internal
 */
export const checkEmail = (field: string, email: string): Effect.Effect<void, InvalidInput> =>
  refuse(field, email.isWellFormed() ? emailAddressIssue(email.trim()) : "an e-mail address has no broken characters")
