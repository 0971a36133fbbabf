import { readContacts } from "@roster/domain"
import { uploadContacts } from "@roster/workflows"
import { Stream } from "effect"

const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))

export const example = uploadContacts(readContacts(file), { listNames: ["newsletter"] })
