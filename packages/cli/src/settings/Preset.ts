/**
 * Well-known services. This is no part of `Profile.ts`, which every start loads: the name of the header comes with the HTTP
 * interface.
 */
import { elasticEmailApiKeyHeader } from "@roster/api"
import type { Profile } from "./Profile.ts"

/** Addresses and key headers of well-known services. */
export const presets = {
  "elastic-email": { baseUrl: "https://api.elasticemail.com/v4", apiKeyHeader: elasticEmailApiKeyHeader }
} as const satisfies Record<string, Pick<Profile, "baseUrl" | "apiKeyHeader">>

export const presetNames = ["elastic-email"] as const
