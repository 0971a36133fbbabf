import { addAll } from "@roster/workflows"
import { Stream } from "effect"

const people = Stream.make("ada@example.com", "bob@example.com")

export const example = Stream.runCollect(
  addAll(people, { listNames: ["newsletter"], toContact: (email) => ({ email }) })
)
