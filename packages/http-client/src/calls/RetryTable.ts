/** The retries of each operation as data, from which the table of docs/decisions/retries.md is printed. */
import type { OperationId } from "@roster/api"

/** What a failure proves. `NotProcessed`: the service did nothing. `Ambiguous`: it may have been carried out. */
export type Evidence = "NotSent" | "NotProcessed" | "Ambiguous" | "Permanent"

/** What may be retried. A request that was not sent always may, if its body can be sent again. */
export interface RetryRow {
  /** `throttled`: only if the service asks to slow down, by 429 or 503 with Retry-After. */
  readonly notProcessed: "always" | "throttled"
  /** `keyed`: only if the service is known to honour the Idempotency-Key of the call. */
  readonly ambiguous: "always" | "keyed" | "never"
  /** How to recover after an ambiguous failure; none for reads. `{name}` is the subject of the call. */
  readonly recovery?: string
}

const reads: RetryRow = { notProcessed: "always", ambiguous: "always" }

const always = (recovery: string): RetryRow => ({ notProcessed: "always", ambiguous: "always", recovery })

const updates = always("Repeat the update.")

const deletes = always("Delete it again: what is already deleted is not an error.")

const keyed = (recovery: string): RetryRow => ({ notProcessed: "always", ambiguous: "keyed", recovery })

const never = (recovery: string): RetryRow => ({ notProcessed: "always", ambiguous: "never", recovery })

const secret: RetryRow = {
  notProcessed: "throttled",
  ambiguous: "never",
  recovery: "Load {name} by name: if it is there, its token is lost, so delete it and create it again."
}

/** An operation, or the kind of call whose row differs. */
export type RetryKey = OperationId | "contactsDeletePost by rule"

/** The row of each operation. */
export const retryTable: { readonly [Key in RetryKey]: RetryRow } = {
  contactsGet: reads,
  contactsByEmailGet: reads,
  contactsExportByIdStatusGet: reads,
  securityApikeysGet: reads,
  securityApikeysByNameGet: reads,
  securitySmtpGet: reads,
  securitySmtpByNameGet: reads,
  contactsByEmailPut: updates,
  securityApikeysByNamePut: updates,
  securitySmtpByNamePut: updates,
  contactsByEmailDelete: deletes,
  securityApikeysByNameDelete: deletes,
  securitySmtpByNameDelete: deletes,
  contactsDeletePost: deletes,
  "contactsDeletePost by rule": never("List the contacts that the rule selects now and delete them by address."),
  contactsPost: keyed("Add the same contacts again: existing ones are updated."),
  contactsExportPost: keyed("Ask for a new export; the lost one expires by itself."),
  contactsImportPost: never("Look for contacts of the file before importing it again."),
  emailsPost: never("Sending again could deliver the message twice."),
  securityApikeysPost: secret,
  securitySmtpPost: secret
}
