import { readContacts } from "@roster/domain"
import { importContacts } from "@roster/workflows"
import { Stream } from "effect"

const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))

export const example = importContacts(readContacts(file), { listNames: ["newsletter"] })
