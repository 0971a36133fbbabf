import { AccountService } from "@roster/domain"
import { rotateApiKey, type WithNewKey } from "@roster/workflows"
import { Effect, type Redacted, Schedule } from "effect"

/**
 * Replaces the secrets of keys each month, and that of the key that calls after all others, since it may do less once it is
 * replaced. The new secret lives as long as the old one was made for, from now on.
 */
export const worker = (
  names: ReadonlyArray<string>,
  store: (name: string, secret: Redacted.Redacted<string>) => Effect.Effect<void>,
  withNewKey?: WithNewKey
) =>
  Effect.gen(function* () {
    const { name: own } = yield* AccountService.use(({ key }) => key)
    const ownLast = names.toSorted((one, other) => Number(one === own) - Number(other === own))
    yield* Effect.forEach(ownLast, (name) =>
      rotateApiKey(name, {
        deliver: ({ token }) => store(name, token),
        // For this long programs may still use the old secret, which then ends by itself.
        grace: "7 days",
        withNewKey
      })
    )
  }).pipe(Effect.schedule(Schedule.cron("0 4 1 * *", "UTC")))
