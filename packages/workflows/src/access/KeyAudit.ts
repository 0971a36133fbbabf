/** Findings about API keys, such as unused ones and needless access, and the advice for each. */
import { Data, DateTime, Duration } from "effect"
import { isReplacedApiKey } from "../rotation/RotationNames.ts"
import { type ApiKey, type ReportedAccessLevel, type Named } from "@roster/domain"
import { formatWireDate, untoldLevel, KnownFields } from "@roster/domain/internal"

/** A finding about a key that its owner should decide on. */
export type KeyFinding = Named<
  Data.TaggedEnum<{
    Expired: { readonly name: string; readonly expires: DateTime.Utc }
    Expiring: { readonly name: string; readonly expires: DateTime.Utc }
    NeverUsed: { readonly name: string; readonly created: DateTime.Utc | undefined }
    /** A rotation has replaced the key, and programs still use it. */
    ReplacedInUse: { readonly name: string; readonly expires: DateTime.Utc; readonly lastUse: DateTime.Utc }
    Unused: { readonly name: string; readonly lastUse: DateTime.Utc }
    /** The key has levels that it was never used for. */
    UnusedLevels: { readonly name: string; readonly levels: ReadonlyArray<ReportedAccessLevel> }
    /** The key can make, change and delete keys, or see them. */
    ManagesKeys: { readonly name: string; readonly levels: ReadonlyArray<ReportedAccessLevel> }
    /** The service does not tell the levels of the key, so it may manage keys too. */
    UntoldLevels: { readonly name: string }
    UsableFromEverywhere: { readonly name: string }
  }>
>

/** The constructors and the matcher of `KeyFinding`. */
export const KeyFinding = Data.taggedEnum<KeyFinding>()

/** Options of `auditApiKeys`. */
export interface KeyAuditOptions {
  /** The time of the audit. */
  readonly now: DateTime.DateTime
  /** How long a key must not have been used to count as unused (default: 90 days). */
  readonly unusedFor?: Duration.Input | undefined
  /** How long before its expiry a key counts as expiring (default: the last tenth of its life, at most 30 days). */
  readonly expiringWithin?: Duration.Input | undefined
  /** The levels each key was used for, by key name, if known: the interface does not tell. */
  readonly levelsUsed?: ReadonlyMap<string, { readonly has: (level: ReportedAccessLevel) => boolean }> | undefined
}

const optionFields = KnownFields.fieldsOf<KeyAuditOptions>("an audit", {
  now: true,
  unusedFor: true,
  expiringWithin: true,
  levelsUsed: true
})

/** Programs count as using a replaced key for this long after its last use. */
const inUseFor = Duration.days(1)

const managing: ReadonlySet<string> = new Set<ReportedAccessLevel>(["Security", "ModifyAccessTokens"])

/** A key that was made within this time need not have been used. */
const newKeyFor = Duration.days(1)

/** The longest time before its expiry in which a key counts as expiring by default, and the part of its life. */
const expiringAtMost = Duration.days(30)
const expiringPart = 0.1

const expiringSpan = (created: DateTime.Utc | undefined, expires: DateTime.Utc): Duration.Duration =>
  created === undefined
    ? expiringAtMost
    : Duration.min(expiringAtMost, Duration.times(DateTime.distance(created, expires), expiringPart))

/**
 * Audits keys for needless access and a near expiry. The findings have the order of the keys. Throws `InvalidInput` for an
 * unknown option.
 *
 * ```ts
 * import { CredentialsService } from "@roster/domain"
 * import { auditApiKeys } from "@roster/workflows"
 * import { DateTime, Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const { apiKeys } = yield* CredentialsService
 *   return auditApiKeys(yield* apiKeys.list(), { now: yield* DateTime.now, unusedFor: "30 days" })
 * })
 * ```
 */
export const auditApiKeys = (keys: ReadonlyArray<ApiKey>, options: KeyAuditOptions): ReadonlyArray<KeyFinding> => {
  KnownFields.requireFields(optionFields, options)
  const { levelsUsed, now } = options
  const unusedSince = DateTime.subtractDuration(now, options.unusedFor ?? Duration.days(90))
  const inUseSince = DateTime.subtractDuration(now, inUseFor)
  const newSince = DateTime.subtractDuration(now, newKeyFor)
  const isExpiring = (created: DateTime.Utc | undefined, expires: DateTime.Utc) =>
    DateTime.isLessThanOrEqualTo(
      expires,
      DateTime.addDuration(now, options.expiringWithin ?? expiringSpan(created, expires))
    )
  return keys.flatMap(({ accessLevels, dateCreated, expires, ipRanges = [], lastUse, name }) => {
    const findings: Array<KeyFinding> = []
    if (expires != null && DateTime.isLessThanOrEqualTo(expires, now)) {
      findings.push(KeyFinding.Expired({ name, expires }))
    } else if (
      expires != null &&
      lastUse != null &&
      isReplacedApiKey(name) &&
      DateTime.isGreaterThan(lastUse, inUseSince)
    ) {
      findings.push(KeyFinding.ReplacedInUse({ name, expires, lastUse }))
    } else if (expires != null && isExpiring(dateCreated, expires)) {
      findings.push(KeyFinding.Expiring({ name, expires }))
    }
    if (lastUse == null) {
      const isNew = dateCreated !== undefined && DateTime.isGreaterThan(dateCreated, newSince)
      if (!isNew) findings.push(KeyFinding.NeverUsed({ name, created: dateCreated }))
    } else if (DateTime.isLessThanOrEqualTo(lastUse, unusedSince)) {
      findings.push(KeyFinding.Unused({ name, lastUse }))
    }
    const isTold = !accessLevels.includes(untoldLevel)
    if (!isTold) findings.push(KeyFinding.UntoldLevels({ name }))
    const used = levelsUsed?.get(name)
    const idle =
      lastUse == null || used === undefined || !isTold
        ? []
        : accessLevels.filter((level) => level !== "None" && !used.has(level))
    if (idle.length > 0) findings.push(KeyFinding.UnusedLevels({ name, levels: idle }))
    const manages = accessLevels.filter((level) => managing.has(level))
    if (manages.length > 0) findings.push(KeyFinding.ManagesKeys({ name, levels: manages }))
    if (ipRanges.length === 0) findings.push(KeyFinding.UsableFromEverywhere({ name }))
    return findings
  })
}

/** Describes a finding and what to do about it. */
export const describeFinding: (finding: KeyFinding) => { readonly what: string; readonly advice: string } =
  KeyFinding.$match({
    Expired: ({ expires }) => ({ what: `it ended at ${formatWireDate(expires)}`, advice: "delete it" }),
    Expiring: ({ expires }) => ({
      what: `it ends at ${formatWireDate(expires)}`,
      advice: "give it a later end, or let it go"
    }),
    ReplacedInUse: ({ expires, lastUse }) => ({
      what: `replaced, and still used at ${formatWireDate(lastUse)}; it ends at ${formatWireDate(expires)}`,
      advice: "give the new secret to the programs that use it, or give it a later end"
    }),
    NeverUsed: ({ created }) => ({
      what: `never used${created === undefined ? "" : ` since it was made at ${formatWireDate(created)}`}`,
      advice: "delete it if nobody is about to use it"
    }),
    Unused: ({ lastUse }) => ({
      what: `not used since ${formatWireDate(lastUse)}`,
      advice: "delete it if nobody needs it"
    }),
    UnusedLevels: ({ levels }) => ({
      what: `never used for ${levels.join(", ")}`,
      advice: "take away the levels that it does not need"
    }),
    ManagesKeys: ({ levels }) => ({
      what:
        `it can ${levels.includes("ModifyAccessTokens") ? "make, change and delete" : "see"} keys ` +
        `(${levels.join(", ")})`,
      advice: "let few keys do so, and keep their secrets where people keep theirs"
    }),
    UntoldLevels: () => ({
      what: "the service does not tell what it may do",
      advice: "look at the service itself, or replace it by a key whose levels are known"
    }),
    UsableFromEverywhere: () => ({
      what: "usable from everywhere",
      advice: "name the addresses that it is used from"
    })
  })
