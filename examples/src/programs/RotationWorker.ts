import { rotateApiKey } from "@roster/workflows"
import { Effect, type Redacted, Schedule } from "effect"

/** Replaces the secret of a key each month. The new secret lives as long as the old one was made for, from now on. */
export const worker = (name: string, store: (secret: Redacted.Redacted<string>) => Effect.Effect<void>) =>
  rotateApiKey(name, {
    deliver: ({ token }) => store(token),
    // For this long programs may still use the old secret, which then ends by itself.
    grace: "7 days"
  }).pipe(Effect.schedule(Schedule.cron("0 4 1 * *", "UTC")))
