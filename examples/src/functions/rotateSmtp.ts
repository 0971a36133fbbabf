import { rotateSmtp } from "@roster/workflows"
import { Console, Redacted } from "effect"

export const example = rotateSmtp("mailer@example.com", {
  deliver: ({ token }) => Console.error(`a password of ${Redacted.value(token).length} characters`),
  grace: "7 days"
})
