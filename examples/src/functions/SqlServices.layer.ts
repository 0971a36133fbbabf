import { ContactsService } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Effect } from "effect"

const services = SqlServices.layer({ filename: ":memory:", allowedSenders: ["*@example.com"] })

export const example = ContactsService.use((contacts) => contacts.list()).pipe(Effect.provide(services))
