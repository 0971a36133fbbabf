import { ContactsService } from "@roster/domain"
import { HttpContactsService } from "@roster/http-client"
import { Effect, Redacted } from "effect"

const baseUrl = "https://roster.example.com/v4"
const contacts = HttpContactsService.layer({ baseUrl, apiKey: Redacted.make("key") })

export const example = ContactsService.use(({ list }) => list()).pipe(Effect.provide(contacts))
