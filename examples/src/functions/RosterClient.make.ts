import { RosterClient } from "@roster/http-client"
import { Effect, Redacted } from "effect"

const baseUrl = "https://roster.example.com/v4"

export const example = Effect.gen(function* () {
  const { contacts } = yield* RosterClient.make({ baseUrl, apiKey: Redacted.make("key") })
  return yield* contacts.list({ limit: 10 })
})
