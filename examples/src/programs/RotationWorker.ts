import { rotateApiKey } from "@roster/workflows"
import { Effect, type Redacted, Schedule } from "effect"

/** Replaces the secret of a key each month. The new secret lives as long as the old one was made for, from now on. */
export const worker = (name: string, store: (secret: Redacted.Redacted<string>) => Effect.Effect<void>) =>
  rotateApiKey(name, {
    deliver: ({ token }) => store(token),
    // Where the secret goes: a run that resumes with another one is refused.
    destination: "the secret store",
    idle: "10 minutes",
    grace: "1 day"
  }).pipe(
    // Both secrets work until the next month, where programs still use the old one.
    Effect.catchTag("StillInUse", ({ message }) => Effect.logWarning(message)),
    Effect.schedule(Schedule.cron("0 4 1 * *", "UTC"))
  )
