/**
 * A credential as its row, and what both kinds of record have of it.
 */
import type { AccessLevel } from "@roster/domain"
import type { DateTime } from "effect"
import type { AuditDetails } from "./AuditEntry.ts"
import type { Bounds } from "./CredentialScope.ts"
import type { CredentialKind } from "./Secret.ts"
import { fromSeconds, nullableDate } from "../store/Timestamps.ts"

export interface CredentialRow {
  readonly id: number
  readonly account: string
  readonly kind: CredentialKind
  readonly name: string
  readonly identity: string
  readonly access_levels: string
  readonly ip_ranges: string
  readonly date_created: number
  readonly last_use: number | null
  readonly expires: number | null
  readonly secret_digest: Uint8Array
  readonly secret_hint: string
}

// What we wrote ourselves: an array of texts.
const texts = <T extends string>(json: string): ReadonlyArray<T> => JSON.parse(json) as ReadonlyArray<T>

export const accessLevelsOf = (row: CredentialRow): ReadonlyArray<AccessLevel> => texts(row.access_levels)

/**
 * Whether a level is among those of a credential. It is asked of every request: the names of levels hold no quotes, so the
 * text need not be read.
 */
export const hasLevel = (row: Pick<CredentialRow, "access_levels">, level: AccessLevel): boolean =>
  row.access_levels.includes(`"${level}"`)

export const ipRangesOf = (row: Pick<CredentialRow, "ip_ranges">): ReadonlyArray<string> => texts(row.ip_ranges)

export interface CredentialRecord {
  readonly name: string
  readonly dateCreated: DateTime.Utc
  readonly lastUse: DateTime.Utc | null
  readonly expires: DateTime.Utc | null
  readonly ipRanges: ReadonlyArray<string>
}

export const toRecord = (row: CredentialRow): CredentialRecord => ({
  name: row.name,
  dateCreated: fromSeconds(row.date_created),
  lastUse: nullableDate(row.last_use),
  expires: nullableDate(row.expires),
  ipRanges: ipRangesOf(row)
})

/** The columns that a row is changed in, and what the record says of the change. */
export const changesOf = (
  row: CredentialRow,
  next: Bounds,
  named: { readonly name: string; readonly identity: string }
) => {
  const before = accessLevelsOf(row)
  const levelsAdded = next.levels.filter((level) => !before.includes(level))
  const levelsRemoved = before.filter((level) => !next.levels.includes(level))
  const ip_ranges = JSON.stringify(next.ranges)
  const changed = [
    ...(row.name === named.name ? [] : ["Name"]),
    ...(levelsAdded.length + levelsRemoved.length === 0 ? [] : ["AccessLevel"]),
    ...(row.expires === next.expires ? [] : ["Expires"]),
    ...(row.ip_ranges === ip_ranges ? [] : ["RestrictAccessToIPRange"])
  ]
  const details: AuditDetails = {
    changed,
    ...(levelsAdded.length === 0 ? {} : { levelsAdded }),
    ...(levelsRemoved.length === 0 ? {} : { levelsRemoved }),
    ...(row.name === named.name ? {} : { renamedTo: named.name })
  }
  const columns = { ...named, access_levels: JSON.stringify(next.levels), expires: next.expires, ip_ranges }
  return { columns, details }
}
