/** Updates of credentials. The interface replaces them whole, so unchanged fields are sent as they were read. */
import { AccessLevel, CredentialSettings, type ReportedAccessLevel } from "@roster/domain"
import { Effect, Schema } from "effect"
import type { SettingChanges } from "./CredentialFlags.ts"
import { usageError } from "../../errors/UsageError.ts"

type SettingValues = CredentialSettings.SettingValues

/** The settings after a change. A value that this version cannot write is omitted, so that the service keeps it. */
export const changed = <Set extends SettingValues, Clear extends SettingValues>(
  current: SettingValues,
  { clear, set }: SettingChanges<Set, Clear>
) => {
  const settings = CredentialSettings.settingNames
    .filter((name) => name in set)
    .map((name) => {
      const isWritable = Schema.is(Schema.toType(CredentialSettings.apiKeySettings[name].write))
      const kept = isWritable(current[name]) ? current[name] : undefined
      return [name, [clear[name], set[name], kept].find((value) => value !== undefined)] as const
    })
  // Flags give what can be written, and the rest was checked.
  return Object.fromEntries(settings.filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof Set & keyof Clear]?: Exclude<Set[Name] | Clear[Name], undefined>
  }
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
