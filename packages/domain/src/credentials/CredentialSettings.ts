/**
 * What can be set of a credential, each field once. The records, the rows of a store, their changes, copies,
 * comparisons and the flags of the command line iterate these tables.
 */
import { DateTime, Duration, Effect, Schema, Struct } from "effect"
import { AccessLevel, ReportedAccessLevel, untoldLevel } from "../values/AccessLevel.ts"
import {
  answerField,
  answerFieldOr,
  inputText,
  nullableAnswerDate,
  nullableRequestField,
  requestField
} from "../values/OptionalField.ts"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { GivenDate, givenInstant } from "../values/WireDate.ts"
import { IpRange, maximumIpRanges } from "./Credential.ts"

/** A field that callers set and read. */
export interface Setting {
  /** Its name on the wire. */
  readonly wire: string
  /** The field as the service returns it. */
  readonly read: Schema.Constraint
  /** The field as callers send it; one that they omit is kept. */
  readonly write: Schema.Constraint
  /** Whether it limits what the credential may do, so that no key gives others more than its own. */
  readonly limits: boolean
}

type Settings = Readonly<Record<string, Setting>>

/** The settings of every credential. */
export const credentialSettings = {
  /** `null` means that it never ends. */
  expires: {
    wire: "Expires",
    read: nullableAnswerDate,
    write: nullableRequestField(GivenDate),
    limits: true
  },
  /** `[]` means that it may be used from everywhere. */
  ipRanges: {
    wire: "RestrictAccessToIPRange",
    read: answerField(Schema.Array(Schema.String)),
    write: requestField(
      Schema.Array(inputText(IpRange)).check(
        Schema.isMaxLength(maximumIpRanges, { expected: `at most ${maximumIpRanges} addresses and ranges` })
      )
    ),
    limits: true
  }
} as const satisfies Settings

/** The settings of API keys. */
export const apiKeySettings = {
  /** What the key may do, by access level; `["Untold"]` where the service does not tell. */
  accessLevels: {
    wire: "AccessLevel",
    read: answerFieldOr(Schema.Array(ReportedAccessLevel), [untoldLevel]),
    write: Schema.Array(AccessLevel),
    limits: true
  },
  ...credentialSettings
} as const satisfies Settings

/** The name of a setting in code. Those of SMTP credentials are among those of API keys. */
export type SettingName = keyof typeof apiKeySettings

/** The names of all settings. */
export const settingNames: ReadonlyArray<SettingName> = Struct.keys(apiKeySettings)

/** A setting that limits what a credential may do. */
export type CredentialLimit = {
  readonly [Name in SettingName]: (typeof apiKeySettings)[Name]["limits"] extends true ? Name : never
}[SettingName]

/** One part of each setting, such as what it is named on the wire. */
export const partOf = <const S extends Settings, Part extends keyof Setting>(
  settings: S,
  part: Part
): { readonly [Name in keyof S]: S[Name][Part] } =>
  // The entries are those of the table.
  Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting[part]])) as {
    readonly [Name in keyof S]: S[Name][Part]
  }

type Value = DateTime.Utc | ReadonlyArray<string> | string | null | undefined

/** What is known of the settings of a credential. */
export type SettingValues = { readonly [Name in SettingName]?: Value }

/** Lists have no order, dates travel in whole seconds, and what is missing is like what is empty. */
const meaningOf = (value: Value): string | number => {
  if (value == null) return ""
  if (typeof value === "string") return value
  if (DateTime.isDateTime(value)) return Math.floor(value.epochMilliseconds / 1000)
  return [...new Set(value.map((text) => text.toLowerCase()))].sort().join("\n")
}

/** Whether two values of a setting mean the same. */
export const isSameSetting = (one: Value, other: Value): boolean => meaningOf(one) === meaningOf(other)

/** Reads the end of a credential as callers give it: a date of any kind, or a time from now. */
export const readEnd = Effect.fnUntraced(function* (
  expires: DateTime.DateTime.Input | Duration.Duration | null | undefined
): Effect.fn.Return<DateTime.Utc | null | undefined, InvalidInput> {
  if (expires == null) return expires
  const { epochMilliseconds } = yield* DateTime.now
  const end = givenInstant(Duration.isDuration(expires) ? epochMilliseconds + Duration.toMillis(expires) : expires)
  if (end !== undefined) return end
  const issue = "it is not a date and time that exists, in UTC unless it names a zone, nor a duration that ends"
  return yield* new InvalidInput({ field: "expires", issue })
})
