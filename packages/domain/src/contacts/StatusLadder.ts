/**
 * The statuses that stop mail, on one ladder: a write of many may raise the status of a contact and not lower it, and gives
 * NotConfirmed to new contacts only. Every way in asks `statusAfter`. (docs/decisions/upsert.md)
 */
import { Schema } from "effect"
import { type Named, openLiterals } from "../values/WireRecord.ts"
import { withheldStatuses } from "../values/AddMode.ts"
import { ContactStatus } from "./ContactRecord.ts"
import { canonicalEmail } from "./EmailAddress.ts"

/** A status, also one that this version does not know. */
const AnyStatus = openLiterals(ContactStatus)
type AnyStatus = Named<typeof AnyStatus.Type>

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
 * The statuses that a write lifts, so that the given one takes their place: `true` lifts all but Abuse, and a list lifts
 * those that it names.
 */
export const Resubscribe = Schema.Union([Schema.Boolean, Schema.Array(Schema.Literals(withheldStatuses))])
export type Resubscribe = Named<typeof Resubscribe.Type>

/** Lifts the whole ladder: the given status is written whatever the contact has, as an add without the option does. */
export const everyStatus: Resubscribe = withheldStatuses

/** What is lifted as a text: `deny` for none, `allow` for all but Abuse, or their names with commas between them. */
export const resubscribeText = (resubscribe: Resubscribe): string =>
  typeof resubscribe === "boolean" ? (resubscribe ? "allow" : "deny") : resubscribe.join(",") || "deny"

/** Reads such a text; `undefined` if it is none. */
export const resubscribeIn = (text: string): Resubscribe | undefined => {
  if (text === "allow" || text === "deny") return text === "allow"
  const statuses = text.split(",").map((name) => withheldStatuses.find((status) => status === name.trim()))
  return statuses.every((status) => status !== undefined) ? statuses : undefined
}

/** Whether a status is lifted. */
export const isLifted = (status: unknown, resubscribe: Resubscribe): boolean =>
  typeof resubscribe === "boolean"
    ? resubscribe && status !== "Abuse" && strictnessOf(status) > 0
    : resubscribe.some((lifted) => lifted === status)

/** Whether a write lowers a status that it does not lift. */
export const wouldLower = (now: unknown, given: unknown, resubscribe: Resubscribe = false): boolean =>
  strictnessOf(given) < strictnessOf(now) && !isLifted(now, resubscribe)

/** Whether the whole ladder is lifted. */
export const isEveryLifted = (resubscribe: Resubscribe): boolean =>
  withheldStatuses.every((status) => isLifted(status, resubscribe))

/**
 * The status of a contact after a write, whether there is one or not. A contact keeps its own where the given one would lower
 * it, and where it would only say that a contact that is there has not confirmed. A new contact is Active if none is given.
 */
export const statusAfter = (
  before: { readonly status?: AnyStatus | undefined } | null,
  {
    resubscribe = false,
    status
  }: { readonly status?: AnyStatus | undefined; readonly resubscribe?: Resubscribe | undefined }
): AnyStatus | undefined => {
  if (before === null) return status ?? "Active"
  const { status: now } = before
  if (status === undefined || wouldLower(now, status, resubscribe)) return now
  const takesMail = status === "NotConfirmed" && !isLifted(now, resubscribe) && !isEveryLifted(resubscribe)
  return takesMail ? now : status
}

/**
 * Whether a write of this status may meet a contact that keeps its own, as far as a service that does not know the ladder is
 * concerned: there Unsubscribed and Abuse are written whatever the contact has.
 */
export const mayBeKept = (status: unknown, resubscribe: Resubscribe = false): boolean =>
  status != null && status !== "Unsubscribed" && status !== "Abuse" && !isEveryLifted(resubscribe)

/** A contact of an add that kept its status. */
export interface KeptStatus {
  /** The position of the contact in the add, counted from 0. */
  readonly index: number
  /** The status that the contact kept. */
  readonly status: AnyStatus
}

/** A row of a file whose contact kept its status. */
export const KeptStatusRow = Schema.Struct({
  /** The line of the file on which the row begins, counted from 1. */
  line: Schema.Int,
  /** The status that the contact kept. */
  status: AnyStatus
}).annotate({ identifier: "KeptStatusRow" })
export interface KeptStatusRow extends Schema.Schema.Type<typeof KeptStatusRow> {}

/**
 * The contacts of an add that kept their status, by the statuses that they have after it. Of an address with several contacts
 * only the last counts.
 */
export const keptStatuses = (
  given: ReadonlyArray<{ readonly email: string; readonly status?: unknown }>,
  after: ReadonlyArray<{ readonly status?: AnyStatus | undefined }>
): ReadonlyArray<KeptStatus> => {
  const kept = given.flatMap((contact, index): ReadonlyArray<KeptStatus> => {
    const status = after[index]?.status
    return contact.status == null || status === undefined || status === contact.status ? [] : [{ index, status }]
  })
  if (kept.length === 0) return kept
  const last = new Map(given.map(({ email }, index) => [canonicalEmail(email), index]))
  return kept.filter(({ index }) => last.get(canonicalEmail(given[index]?.email ?? "")) === index)
}
