/** The error of a setting that cannot be used, of a client or of its transport. */
import { TaggedError } from "@roster/domain"
import { KnownFields } from "@roster/domain/internal"
import { Effect, Schema } from "effect"

/** The issue of a setting that is missing. */
export const notSet = "it is not set"

/** A setting cannot be used, or is missing. The error names the setting, and never holds a key. */
export class InvalidSettings extends TaggedError<InvalidSettings>()("InvalidSettings", {
  /** The name of the setting, such as `baseUrl`. */
  setting: Schema.String,
  /** What is wrong with it, without its value. */
  issue: Schema.String,
  /** Where it was read from, if known: the variable of the configuration, or of a command the flag or profile. */
  variable: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    const name = this.variable === undefined ? this.setting : `${this.variable} (${this.setting})`
    return this.issue === notSet
      ? `The setting ${name} is not set.`
      : `The setting ${name} cannot be used: ${this.issue}.`
  }

  /** The same error with where the setting was read from, unless it says so already. */
  readFrom(variable: string | undefined): InvalidSettings {
    const { issue, setting } = this
    return variable === undefined || this.variable !== undefined
      ? this
      : new InvalidSettings({ setting, issue, variable })
  }
}

/** Refuses settings of an unknown name; `prefix` is that of settings within others. */
export const checkSettings = (
  known: KnownFields.Known,
  given: unknown,
  prefix = ""
): Effect.Effect<void, InvalidSettings> => {
  const refused = KnownFields.refusal(known, given)
  return refused === undefined
    ? Effect.void
    : Effect.fail(new InvalidSettings({ setting: `${prefix}${refused.field}`, issue: refused.issue }))
}
