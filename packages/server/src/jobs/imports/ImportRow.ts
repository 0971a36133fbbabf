/**
 * What an import takes of a row. Of an ordinary one, whose bytes were looked at already, the cells are taken as they are,
 * which costs a tenth of reading them by the schema of a contact; there is nothing in them that the store would not take.
 */
import type { ContactPayload, ImportRow } from "@roster/domain"
import { Result } from "effect"
import { textsRefusal } from "../../contacts/ContactValidation.ts"

/** The contact of a row, or why the store does not take it. */
export const readRow = (row: ImportRow): Result.Result<ContactPayload, string> => {
  const { fast } = row
  if (fast !== undefined) return Result.succeed(fast.payload)
  const { contact } = row
  if (Result.isFailure(contact)) return contact
  const refusal = textsRefusal(contact.success, "")
  return refusal === undefined ? contact : Result.fail(refusal.message)
}
