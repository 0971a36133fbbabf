import { ContactsService } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { ManagedRuntime } from "effect"

/** The contacts of a store file as promises, which reject with the tagged errors. */
export const openContacts = (filename: string) => {
  const runtime = ManagedRuntime.make(SqlServices.layer({ filename }))
  return {
    add: (email: string) => runtime.runPromise(ContactsService.use((contacts) => contacts.add([{ email }]))),
    find: (email: string) => runtime.runPromise(ContactsService.use((contacts) => contacts.get(email))),
    close: () => runtime.dispose()
  }
}
