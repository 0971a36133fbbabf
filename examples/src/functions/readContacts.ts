import { readContacts } from "@roster/domain"
import { Stream } from "effect"

const file = Stream.make(new TextEncoder().encode("Mail\nada@example.com\n"))

export const example = Stream.runCollect(readContacts(file, { columns: { Mail: "email" } }))
