/**
 * Looking through API keys for those that are more than what is needed: unused, about to end, able to do what they never did,
 * usable from everywhere.
 */
import { Data, DateTime, Duration } from "effect"
import { type ApiKey, formatWireDate, type ReportedAccessLevel } from "@roster/domain"

/** Something about a key that is worth a decision. */
export type KeyFinding = Data.TaggedEnum<{
  Expired: { readonly name: string; readonly expires: DateTime.Utc }
  Expiring: { readonly name: string; readonly expires: DateTime.Utc }
  NeverUsed: { readonly name: string; readonly created: DateTime.Utc | undefined }
  Unused: { readonly name: string; readonly lastUse: DateTime.Utc }
  /** Levels that the key has and was never used for. */
  UnusedLevels: { readonly name: string; readonly levels: ReadonlyArray<ReportedAccessLevel> }
  /** It can make, change and delete keys, or see them. */
  ManagesKeys: { readonly name: string; readonly levels: ReadonlyArray<ReportedAccessLevel> }
  UsableFromEverywhere: { readonly name: string }
}>

export const KeyFinding = Data.taggedEnum<KeyFinding>()

export interface KeyAuditOptions {
  readonly now: DateTime.Utc
  /** From how long on a key counts as unused: 90 days. */
  readonly unusedFor?: Duration.Duration | undefined
  /** How long before its end a key counts as expiring: 30 days. */
  readonly expiringWithin?: Duration.Duration | undefined
  /** The levels that each key was used for, by its name, where that is known. The interface of a service does not tell. */
  readonly levelsUsed?: ReadonlyMap<string, { readonly has: (level: ReportedAccessLevel) => boolean }> | undefined
}

const managing: ReadonlySet<string> = new Set<ReportedAccessLevel>(["Security", "ModifyAccessTokens"])

/** The findings, key by key, in the order of the keys. */
export const auditApiKeys = (keys: ReadonlyArray<ApiKey>, options: KeyAuditOptions): ReadonlyArray<KeyFinding> => {
  const { levelsUsed, now } = options
  const unusedSince = DateTime.subtractDuration(now, options.unusedFor ?? Duration.days(90))
  const expiringUntil = DateTime.addDuration(now, options.expiringWithin ?? Duration.days(30))
  return keys.flatMap(({ accessLevels, dateCreated, expires, ipRanges = [], lastUse, name }) => {
    const findings: Array<KeyFinding> = []
    if (expires != null && DateTime.isLessThanOrEqualTo(expires, now)) {
      findings.push(KeyFinding.Expired({ name, expires }))
    } else if (expires != null && DateTime.isLessThanOrEqualTo(expires, expiringUntil)) {
      findings.push(KeyFinding.Expiring({ name, expires }))
    }
    if (lastUse == null) {
      findings.push(KeyFinding.NeverUsed({ name, created: dateCreated }))
    } else if (DateTime.isLessThanOrEqualTo(lastUse, unusedSince)) {
      findings.push(KeyFinding.Unused({ name, lastUse }))
    }
    const used = levelsUsed?.get(name)
    const idle =
      lastUse == null || used === undefined ? [] : accessLevels.filter((level) => level !== "None" && !used.has(level))
    if (idle.length > 0) findings.push(KeyFinding.UnusedLevels({ name, levels: idle }))
    const manages = accessLevels.filter((level) => managing.has(level))
    if (manages.length > 0) findings.push(KeyFinding.ManagesKeys({ name, levels: manages }))
    if (ipRanges.length === 0) findings.push(KeyFinding.UsableFromEverywhere({ name }))
    return findings
  })
}

/** What was found, and what to do about it, in words. */
export const describeFinding: (finding: KeyFinding) => { readonly what: string; readonly advice: string } =
  KeyFinding.$match({
    Expired: ({ expires }) => ({ what: `it ended at ${formatWireDate(expires)}`, advice: "delete it" }),
    Expiring: ({ expires }) => ({
      what: `it ends at ${formatWireDate(expires)}`,
      advice: "give it a later end, or let it go"
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
      what: `it can ${levels.includes("ModifyAccessTokens") ? "make, change and delete" : "see"} keys (${levels.join(", ")})`,
      advice: "let few keys do so, and keep their secrets where people keep theirs"
    }),
    UsableFromEverywhere: () => ({
      what: "usable from everywhere",
      advice: "name the addresses that it is used from"
    })
  })
