/**
 * How far a credential goes: what it may do, how long, and from where. Whoever makes or changes one by an API key stays
 * within that key. (docs/decisions/access.md)
 */
import { AccessDenied, type AccessLevel, ExceedsGrantor, formatWireDate } from "@roster/domain"
import { accessLevelsOf, type CredentialRow, ipRangesOf } from "./CredentialRow.ts"
import { isRangeWithin } from "../network/IpRanges.ts"
import { fromSeconds } from "../store/Timestamps.ts"

export interface Bounds {
  readonly levels: ReadonlyArray<AccessLevel>
  /** The second from which on it is good no more. */
  readonly expires: number | null
  /** Everywhere, where there are none. */
  readonly ranges: ReadonlyArray<string>
}

export const boundsOf = (row: CredentialRow): Bounds => ({
  levels: accessLevelsOf(row),
  expires: row.expires,
  ranges: ipRangesOf(row)
})

/** Where the one goes further than the other, or `undefined` where it does not. */
export const violationOf = (bounds: Bounds, within: Bounds): AccessDenied | ExceedsGrantor | undefined => {
  const missing = bounds.levels.find((level) => level !== "None" && !within.levels.includes(level))
  if (missing !== undefined) return new AccessDenied({ required: missing })
  if (within.expires !== null && (bounds.expires === null || bounds.expires > within.expires)) {
    return new ExceedsGrantor({ field: "Expires", limit: formatWireDate(fromSeconds(within.expires)) })
  }
  const isWithin =
    within.ranges.length === 0 ||
    (bounds.ranges.length > 0 && bounds.ranges.every((range) => isRangeWithin(range, within.ranges)))
  return isWithin
    ? undefined
    : new ExceedsGrantor({ field: "RestrictAccessToIPRange", limit: within.ranges.join(", ") })
}
