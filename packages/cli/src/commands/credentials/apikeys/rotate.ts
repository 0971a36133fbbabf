/** `roster apikeys rotate` */
import { NewApiKey } from "@roster/domain"
import { rotateApiKey } from "@roster/workflows"
import { Redacted } from "effect"
import { ownWords, rotateCommand } from "../rotation/Rotation.ts"
import { name } from "./verbs.ts"

export const command = rotateCommand(
  {
    schema: NewApiKey,
    content: ({ token }) => Redacted.make(`${Redacted.value(token)}\n`),
    rotate: rotateApiKey,
    ofOwn: ownWords
  },
  name,
  {
    "roster apikeys rotate ci-sync --out ci-sync.key": "The old secret works for a day",
    "roster apikeys rotate ci-sync --exec 'vault kv put secret/ci key=-' --grace 7d":
      "Pass the secret to a command on stdin",
    "roster apikeys rotate ci-sync --out ci-sync.key --verify 'systemctl restart ci-sync'":
      "Replace the old secret only if the command succeeds",
    "roster apikeys rotate ci-sync --out ci-sync.key --grace 0": "End a secret that leaked"
  }
)
