/**
 * What must not come back: a service, or something in its place, may quote the key that it was sent.
 */
import { Context, Effect, Redacted } from "effect"

/** The secrets of the client that a call belongs to. */
export const Secrets = Context.Reference<ReadonlyArray<Redacted.Redacted<string>>>("@roster/http-client/Secrets", {
  defaultValue: () => []
})

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** A text of the other side without the secrets, in whatever case it spells them. */
export const withoutSecrets = (text: string) =>
  Effect.map(Secrets, (secrets) =>
    secrets.reduce(
      (clean, secret) => clean.replaceAll(new RegExp(escaped(Redacted.value(secret)), "gi"), "<redacted>"),
      text
    )
  )
