import { changeAsRun } from "@roster/workflows"

export const example = changeAsRun(
  { email: "ada@example.com", write: { status: "Unsubscribed" } },
  { command: "unsubscribe" }
)
