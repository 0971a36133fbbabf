import { readContacts } from "@roster/domain"
import { surveyContacts } from "@roster/workflows"
import { Stream } from "effect"

const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))

export const example = surveyContacts(readContacts(file), { maximumRows: 1000 })
