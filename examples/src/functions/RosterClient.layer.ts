import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { Effect, Redacted } from "effect"

const baseUrl = "https://roster.example.com/v4"
const services = RosterClient.layer({ baseUrl, apiKey: Redacted.make("key") })

export const example = ContactsService.use((contacts) => contacts.list()).pipe(Effect.provide(services))
