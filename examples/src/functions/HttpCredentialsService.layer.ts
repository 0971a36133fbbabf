import { CredentialsService } from "@roster/domain"
import { HttpCredentialsService } from "@roster/http-client"
import { Effect, Redacted } from "effect"

const baseUrl = "https://roster.example.com/v4"
const credentials = HttpCredentialsService.layer({ baseUrl, apiKey: Redacted.make("key") })

export const example = CredentialsService.use(({ apiKeys }) => apiKeys.list()).pipe(Effect.provide(credentials))
