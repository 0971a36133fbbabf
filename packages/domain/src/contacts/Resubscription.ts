/**
 * The consent guard: which change of status would send mail again to a person who gets none. (docs/decisions/upsert.md)
 */
import { Schema } from "effect"
import type { ContactStatus } from "./ContactRecord.ts"
import { canonicalEmail } from "./EmailAddress.ts"

/** The statuses of people who left, complained, cannot be reached or never confirmed. */
export const withheldStatuses = [
  "Unsubscribed",
  "Abuse",
  "Bounced",
  "NotConfirmed"
] as const satisfies ReadonlyArray<ContactStatus>

/** A status of a contact that gets no mail unless the person asks for it. */
export type WithheldStatus = (typeof withheldStatuses)[number]

const mailedStatuses: ReadonlySet<unknown> = new Set<ContactStatus>(["Active", "Engaged", "Transactional"])

/** Whether contacts with this status get mail, so that giving it may resubscribe a contact. */
export const isMailedStatus = (status: unknown): boolean => mailedStatuses.has(status)

/** The status that a contact keeps because the new one would resubscribe them; `undefined` if it would not. */
export const statusKept = (stored: unknown, given: unknown): WithheldStatus | undefined =>
  isMailedStatus(given) ? withheldStatuses.find((status) => status === stored) : undefined

/** A contact of an add that kept its status. */
export interface KeptStatus {
  /** The position of the contact in the add, counted from 0. */
  readonly index: number
  /** The status that the contact kept. */
  readonly status: WithheldStatus
}

/** A row of a file whose contact kept its status. */
export const KeptStatusRow = Schema.Struct({
  /** The line of the file on which the row begins, counted from 1. */
  line: Schema.Int,
  /** The status that the contact kept. */
  status: Schema.Literals(withheldStatuses)
})
export interface KeptStatusRow extends Schema.Schema.Type<typeof KeptStatusRow> {}

/**
 * The contacts of an add that kept their status, by its answer. Of an address with several contacts only the last
 * counts.
 */
export const keptStatuses = (
  given: ReadonlyArray<{ readonly email: string; readonly status?: unknown }>,
  answered: ReadonlyArray<{ readonly status?: unknown }>
): ReadonlyArray<KeptStatus> => {
  const kept = given.flatMap((contact, index): ReadonlyArray<KeptStatus> => {
    const status = statusKept(answered[index]?.status, contact.status)
    return status === undefined ? [] : [{ index, status }]
  })
  if (kept.length === 0) return kept
  const last = new Map(given.map(({ email }, index) => [canonicalEmail(email), index]))
  return kept.filter(({ index }) => last.get(canonicalEmail(given[index]?.email ?? "")) === index)
}
