/**
 * Services that need no address, since everybody means the same.
 */
import { elasticEmailApiKeyHeader } from "@roster/api"
import type { Profile } from "./Profile.ts"

/** Addresses and headers of services that are known by name. */
export const presets = {
  "elastic-email": { baseUrl: "https://api.elasticemail.com/v4", apiKeyHeader: elasticEmailApiKeyHeader }
} as const satisfies Record<string, Pick<Profile, "baseUrl" | "apiKeyHeader">>

export const presetNames = ["elastic-email"] as const
