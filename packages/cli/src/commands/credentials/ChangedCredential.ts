/** Updates of credentials. The interface replaces them whole, so unchanged fields are sent as they were read. */
import { AccessLevel, type CredentialLimit, IpRange, type ReportedAccessLevel } from "@roster/domain"
import { type DateTime, Effect, Schema } from "effect"
import type { CredentialChanges } from "./CredentialFlags.ts"
import { omitUndefined } from "../../terminal/Results.ts"
import { usageError } from "../../errors/UsageError.ts"

interface Current {
  readonly expires?: DateTime.Utc | null | undefined
  readonly ipRanges?: ReadonlyArray<string> | undefined
}

const areRanges = Schema.is(Schema.Array(IpRange))

/** Expiry and IP ranges after a change. Ranges in a foreign notation are omitted, so that the service keeps them. */
export const changed = (current: Current, changes: CredentialChanges) => {
  const kept = areRanges(current.ipRanges) ? current.ipRanges : undefined
  return omitUndefined({
    expires: changes.noExpiry ? null : (changes.expires ?? current.expires),
    ipRanges: changes.noIpRange ? [] : (changes.ipRanges ?? kept)
  } satisfies Record<CredentialLimit, unknown>)
}

const isKnown = Schema.is(AccessLevel)

/** The levels of a key, to be sent again. Fails on a level that this version does not know: it would be removed. */
export const keptLevels = (levels: ReadonlyArray<ReportedAccessLevel>) => {
  const unknown = levels.filter((level) => !isKnown(level))
  return unknown.length === 0
    ? Effect.succeed(levels.filter(isKnown))
    : Effect.fail(
        usageError(
          `This key has access levels that this version does not know and would remove: ${unknown.join(", ")}.`,
          "Set all levels of the key with --access, or use a newer roster."
        )
      )
}
