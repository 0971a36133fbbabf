import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect } from "effect"

const services = layerMemory({ allowedSenders: ["*@example.com"] })

export const example = ContactsService.use((contacts) => contacts.list()).pipe(Effect.provide(services))
