import { Contact } from "@roster/domain"
import { restoreContacts } from "@roster/workflows"
import { Stream } from "effect"

const contacts = Stream.make(Contact.make({ email: "ada@example.com", status: "Active" }))

export const example = restoreContacts(contacts, { resubscribe: false })
