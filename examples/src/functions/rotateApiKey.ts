import { rotateApiKey } from "@roster/workflows"
import { Console, Redacted } from "effect"

export const example = rotateApiKey("nightly", {
  deliver: ({ token }) => Console.error(`a secret of ${Redacted.value(token).length} characters`),
  grace: "7 days"
})
