/** `roster smtp rotate` */
import { NewSmtpCredentials } from "@roster/domain"
import { rotateSmtp } from "@roster/workflows"
import { Redacted } from "effect"
import { rotateCommand } from "../rotation/Rotation.ts"
import { name } from "./verbs.ts"

export const command = rotateCommand(
  {
    schema: NewSmtpCredentials,
    content: ({ name, token }) => Redacted.make(`${name}\n${Redacted.value(token)}\n`),
    rotate: rotateSmtp
  },
  name,
  {
    "roster smtp rotate shop@example.com --out shop.login": "Write the new name and its secret to a file",
    "roster smtp rotate shop@example.com --out shop.login --grace 7d": "The old one works for a week"
  }
)
