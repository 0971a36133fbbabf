import { readContacts } from "@roster/domain"
import { addRows } from "@roster/workflows"
import { Stream } from "effect"

const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))

export const example = addRows(readContacts(file), { concurrency: 4 })
