/** `roster apikeys rotate` */
import { NewApiKey } from "@roster/domain"
import { planApiKeyRotation, rotateApiKey } from "@roster/workflows"
import { Redacted } from "effect"
import { rotateCommand } from "../rotation/Rotation.ts"
import { name } from "./verbs.ts"

export const command = rotateCommand(
  {
    schema: NewApiKey,
    content: ({ token }) => Redacted.make(`${Redacted.value(token)}\n`),
    plan: planApiKeyRotation,
    rotate: rotateApiKey
  },
  name,
  {
    "roster apikeys rotate ci-sync --out ci-sync.key": "Run it again to resume",
    "roster apikeys rotate ci-sync --exec 'vault kv put secret/ci key=-' --grace 7d":
      "Pass the secret to a command on stdin",
    "roster apikeys rotate ci-sync --dry-run": "Show what would be done"
  }
)
