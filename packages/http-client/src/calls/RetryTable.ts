/** The retries of each operation as data, from which the table of docs/decisions/retries.md is printed. */
import { type OperationId, operations, type RetryRow } from "@roster/api"

export type { RetryRow } from "@roster/api"

/** What a failure proves. `NotProcessed`: the service did nothing. `Ambiguous`: it may have been carried out. */
export type Evidence = "NotSent" | "NotProcessed" | "Ambiguous" | "Permanent"

/** An operation, or the kind of call whose row differs. */
export type RetryKey = OperationId | "contactsDeletePost by rule" | "contactsChangesPost as a dry run"

const byRule: RetryRow = {
  notProcessed: "always",
  ambiguous: "never",
  recovery: "List the contacts that the rule selects now and delete them by address."
}

/** A dry run changes nothing, so there is nothing to recover from. */
const read: RetryRow = { notProcessed: "always", ambiguous: "always" }

/** The row of each operation, which its endpoint names. The type of the map does not say that these are the keys. */
export const retryTable = {
  ...Object.fromEntries(Array.from(operations, ([id, { retries }]) => [id, retries])),
  "contactsDeletePost by rule": byRule,
  "contactsChangesPost as a dry run": read
} as { readonly [Key in RetryKey]: RetryRow }
