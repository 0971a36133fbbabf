import { lookAtRows } from "@roster/domain"
import { Stream } from "effect"

const file = Stream.make(new TextEncoder().encode("Adresse;Name\nada@example.com;Ada\n"))

export const example = Stream.runCollect(lookAtRows(file, { delimiter: ";" }))
