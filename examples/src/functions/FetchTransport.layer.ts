import { FetchTransport, RosterClient } from "@roster/http-client"
import { Effect, Redacted } from "effect"

const transport = FetchTransport.layer({ maximumResponseBytes: 16 * 1024 * 1024 })
const baseUrl = "https://roster.example.com/v4"

export const example = RosterClient.make({ baseUrl, apiKey: Redacted.make("key") }).pipe(Effect.provide(transport))
