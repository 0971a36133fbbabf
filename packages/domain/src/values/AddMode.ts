/**
 * Which contacts a write of many reaches, and the statuses that it may give: as plain data, so that the tag of a service loads no
 * schema.
 */
import type { ValueCheck } from "./UnknownNames.ts"

/** Every status that a contact can have. The last six receive no mail. */
export const statuses = [
  "Transactional",
  "Engaged",
  "Active",
  "Bounced",
  "Unsubscribed",
  "Abuse",
  "Inactive",
  "Stale",
  "NotConfirmed"
] as const

/**
 * The statuses of people who complained, left, cannot be reached or never confirmed, the strictest first. The five others
 * stand below them and replace each other.
 */
export const withheldStatuses = ["Abuse", "Unsubscribed", "Bounced", "NotConfirmed"] as const satisfies ReadonlyArray<
  (typeof statuses)[number]
>

/** What is wrong with a value that is no `Resubscribe`. */
export const resubscribeIssue: ValueCheck = (value) =>
  typeof value === "boolean" || (Array.isArray(value) && value.every((status) => withheldStatuses.includes(status)))
    ? undefined
    : `it is true, false, or a list of some of ${withheldStatuses.join(", ")}`

/** Which contacts a write of many reaches, and what it gives new ones. */
export interface AddMode {
  /** Leaves contacts of the other kind as they are: `new` never touches a contact that is there (default: neither). */
  readonly only?: "existing" | "new" | undefined
  /** The status of new contacts that are given none (default: Active). Existing contacts keep theirs. */
  readonly defaultStatus?: (typeof statuses)[number] | undefined
}

/** Whether a mode leaves out a contact that is there, or one that is not. */
export const leavesOut = ({ only }: AddMode, isThere: boolean): boolean =>
  only !== undefined && only === (isThere ? "new" : "existing")

/** The fields of `AddMode`. */
export const modeFields = {
  only: (value) => (value === "existing" || value === "new" ? undefined : "it is existing or new"),
  defaultStatus: (value) =>
    statuses.some((status) => status === value) ? undefined : `it is one of ${statuses.join(", ")}`
} satisfies { readonly [Name in keyof AddMode]-?: ValueCheck }
