/** `roster smtp rotate` */
import { NewSmtpCredentials } from "@roster/domain"
import { planSmtpRotation, rotateSmtp } from "@roster/workflows"
import { Redacted } from "effect"
import { rotateCommand } from "../rotation/Rotation.ts"
import { name } from "./verbs.ts"

export const command = rotateCommand(
  {
    schema: NewSmtpCredentials,
    content: ({ name, token }) => Redacted.make(`${name}\n${Redacted.value(token)}\n`),
    plan: planSmtpRotation,
    rotate: rotateSmtp
  },
  name,
  {
    "roster smtp rotate shop@example.com --out shop.login": "Run it again to resume",
    "roster smtp rotate shop@example.com --dry-run": "Show what would be done"
  }
)
