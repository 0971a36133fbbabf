/** A named service: its address and the source of its key. */
import { givenName } from "@roster/domain/internal"
import { Schema } from "effect"

export const ProfileName = givenName("profile", "production").pipe(Schema.brand("ProfileName"))
export type ProfileName = typeof ProfileName.Type

/** The name of the profile that is created and used by default. */
export const defaultProfile = ProfileName.make("default")

/** Stands for the local store where a profile is named, unless there is a profile of this name. */
export const localProfile = ProfileName.make("local")

export const Profile = Schema.Struct({
  baseUrl: Schema.String,
  apiKeyHeader: Schema.optionalKey(Schema.String),
  apiKeyPrefix: Schema.optionalKey(Schema.String),
  /** The key itself, unless a command prints it. */
  apiKey: Schema.optionalKey(Schema.RedactedFromValue(Schema.String, { label: "apiKey" })),
  /** A command line that prints the key. */
  credentialProcess: Schema.optionalKey(Schema.String),
  /** Whether commands refuse to use a local store while this profile is in use. */
  requireRemote: Schema.optionalKey(Schema.Boolean),
  /** Whether its name has to be typed before something of its service is deleted. */
  protected: Schema.optionalKey(Schema.Boolean)
})
export type Profile = typeof Profile.Type
