/**
 * The statuses that stop mail, on one ladder: a write of many may raise the status of a contact and not lower it.
 * (docs/decisions/upsert.md)
 */
import { Schema } from "effect"
import type { ContactStatus } from "./ContactRecord.ts"

/**
 * The statuses of people who complained, left, cannot be reached or never confirmed, the strictest first. The five others
 * stand below them and replace each other.
 */
export const withheldStatuses = [
  "Abuse",
  "Unsubscribed",
  "Bounced",
  "NotConfirmed"
] as const satisfies ReadonlyArray<ContactStatus>

/** A status of a contact that gets no mail unless the person asks for it. */
export type WithheldStatus = (typeof withheldStatuses)[number]

/** How strict a status is: 4 for Abuse, 0 for those that replace each other. */
export const strictnessOf = (status: unknown): number => {
  const place = withheldStatuses.findIndex((withheld) => withheld === status)
  return place === -1 ? 0 : withheldStatuses.length - place
}

/** The stricter of two statuses that were given, and of two that replace each other the second. */
export const stricterStatus = <A extends string>(one: A | undefined, other: A | undefined): A | undefined =>
  one !== undefined && (other === undefined || strictnessOf(one) > strictnessOf(other)) ? one : other

/**
 * Which statuses a write lifts, so that the given status takes their place: `true` all but Abuse, and a list those that it
 * names.
 */
export const Resubscribe = Schema.Union([Schema.Boolean, Schema.Array(Schema.Literals(withheldStatuses))])
export type Resubscribe = typeof Resubscribe.Type

const mailedStatuses: ReadonlySet<unknown> = new Set<ContactStatus>(["Active", "Engaged", "Transactional"])

/** Whether contacts with this status get mail. */
export const isMailedStatus = (status: unknown): boolean => mailedStatuses.has(status)
