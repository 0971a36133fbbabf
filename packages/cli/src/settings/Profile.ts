/**
 * A service that somebody works with often, under a name: its address and the way to its key.
 */
import { Schema } from "effect"

export const ProfileName = Schema.String.pipe(
  Schema.check(
    Schema.makeFilter(
      (name) =>
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) ||
        "the name of a profile has 1 to 64 letters, digits, dots, hyphens and underscores, such as production"
    )
  ),
  Schema.brand("ProfileName")
)
export type ProfileName = typeof ProfileName.Type

/** The profile that is made and used where none is named. */
export const defaultProfile = ProfileName.make("default")

export const Profile = Schema.Struct({
  baseUrl: Schema.String,
  apiKeyHeader: Schema.optionalKey(Schema.String),
  apiKeyPrefix: Schema.optionalKey(Schema.String),
  /** The key itself, where no command gives it. */
  apiKey: Schema.optionalKey(Schema.RedactedFromValue(Schema.String, { label: "apiKey" })),
  /** A command line that prints the key. */
  credentialProcess: Schema.optionalKey(Schema.String),
  /** Whether commands refuse the local store while this profile is in use. */
  requireRemote: Schema.optionalKey(Schema.Boolean)
})
export type Profile = typeof Profile.Type

/** What of a key may be shown: enough to tell it from others, far too little to use it. */
export const maskedKey = (key: string): string => (key.length < 16 ? "…" : `…${key.slice(-4)}`)
