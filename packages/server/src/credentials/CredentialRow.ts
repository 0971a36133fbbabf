import { AccessDenied, type AccessLevel, ExceedsGrantor, formatWireDate, type SmtpCredentials } from "@roster/domain"
import { Effect, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { areRangesWithin } from "../network/IpRanges.ts"
import { fromSeconds, nullableDate } from "../store/Timestamps.ts"
import type { AuditDetails } from "./AuditEntry.ts"
import { type CredentialKind, digestOf, hintOf } from "./Secret.ts"

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

// Both columns hold arrays of strings that this module wrote.
const parseStrings = <T extends string>(json: string): ReadonlyArray<T> => JSON.parse(json) as ReadonlyArray<T>

export const accessLevelsOf = (row: CredentialRow): ReadonlyArray<AccessLevel> => parseStrings(row.access_levels)

/** Whether a credential has a level. Asked by every request: names of levels hold no quotes, so nothing is parsed. */
export const hasLevel = (row: Pick<CredentialRow, "access_levels">, level: AccessLevel): boolean =>
  row.access_levels.includes(`"${level}"`)

export const ipRangesOf = (row: Pick<CredentialRow, "ip_ranges">): ReadonlyArray<string> => parseStrings(row.ip_ranges)

/** The fields that both kinds of credential show. */
export type CredentialRecord = Omit<SmtpCredentials, "accessLevel">

export const toRecord = (row: CredentialRow): CredentialRecord => ({
  name: row.name,
  dateCreated: fromSeconds(row.date_created),
  lastUse: nullableDate(row.last_use),
  expires: nullableDate(row.expires),
  ipRanges: ipRangesOf(row)
})

/** How far a credential reaches. A key cannot grant more than its own scope. (docs/decisions/access.md) */
export interface CredentialScope {
  readonly levels: ReadonlyArray<AccessLevel>
  /** The second at which it expires; `null` for never. */
  readonly expires: number | null
  /** The ranges it may be used from; none means everywhere. */
  readonly ranges: ReadonlyArray<string>
}

export const scopeOf = (row: CredentialRow): CredentialScope => ({
  levels: accessLevelsOf(row),
  expires: row.expires,
  ranges: ipRangesOf(row)
})

/** The first way in which a scope exceeds another, or `undefined`. */
export const violationOf = (
  scope: CredentialScope,
  within: CredentialScope
): AccessDenied | ExceedsGrantor | undefined => {
  const missing = scope.levels.find((level) => level !== "None" && !within.levels.includes(level))
  if (missing !== undefined) return new AccessDenied({ required: missing })
  if (within.expires !== null && (scope.expires === null || scope.expires > within.expires)) {
    return new ExceedsGrantor({ field: "Expires", limit: formatWireDate(fromSeconds(within.expires)) })
  }
  const isWithin =
    within.ranges.length === 0 || (scope.ranges.length > 0 && areRangesWithin(scope.ranges, within.ranges))
  return isWithin
    ? undefined
    : new ExceedsGrantor({ field: "RestrictAccessToIPRange", limit: within.ranges.join(", ") })
}

const columnsOf = ({ expires, levels, ranges }: CredentialScope) => ({
  access_levels: JSON.stringify(levels),
  ip_ranges: JSON.stringify(ranges),
  expires
})

/** Inserts a credential. Only the digest of its secret is stored. */
export const insertCredential = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  credential: Pick<CredentialRow, "account" | "kind" | "name" | "identity"> & {
    readonly scope: CredentialScope
    readonly now: number
    readonly secret: Redacted.Redacted<string>
  }
) {
  const { account, identity, kind, name, now, scope } = credential
  const secret = Redacted.value(credential.secret)
  const [row] = yield* sql<CredentialRow>`
    INSERT INTO credentials ${sql.insert({
      account,
      kind,
      name,
      identity,
      ...columnsOf(scope),
      date_created: now,
      secret_digest: digestOf(secret),
      secret_hint: hintOf(kind, secret)
    })} RETURNING *`
  return row ?? (yield* Effect.die(new Error("an insert gave no row")))
})

/** The columns that an update sets, and the audit details of the change. */
export const changesOf = (
  row: CredentialRow,
  next: CredentialScope,
  named: { readonly name: string; readonly identity: string }
) => {
  const columns = { ...named, ...columnsOf(next) }
  const before = accessLevelsOf(row)
  const levelsAdded = next.levels.filter((level) => !before.includes(level))
  const levelsRemoved = before.filter((level) => !next.levels.includes(level))
  const changed = [
    ...(row.name === named.name ? [] : ["Name"]),
    ...(levelsAdded.length + levelsRemoved.length === 0 ? [] : ["AccessLevel"]),
    ...(row.expires === next.expires ? [] : ["Expires"]),
    ...(row.ip_ranges === columns.ip_ranges ? [] : ["RestrictAccessToIPRange"])
  ]
  const details: AuditDetails = {
    changed,
    ...(levelsAdded.length === 0 ? {} : { levelsAdded }),
    ...(levelsRemoved.length === 0 ? {} : { levelsRemoved }),
    ...(row.name === named.name ? {} : { renamedTo: named.name })
  }
  return { columns, details }
}
