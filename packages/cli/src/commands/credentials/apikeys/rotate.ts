/** `roster apikeys rotate` */
import { NewApiKey } from "@roster/domain"
import { planApiKeyRotation, rotateApiKey } from "@roster/workflows"
import { Redacted } from "effect"
import { Command } from "effect/cli"
import { checkRotation, rotationFlags, runRotation } from "../rotation/Rotation.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name } from "./verbs.ts"
import { withExamples } from "../../shared/CommonFlags.ts"

export const command = Command.make("rotate", { name, ...rotationFlags }, ({ name, ...flags }) =>
  runRotation(
    {
      kind: "apikeys",
      schema: NewApiKey,
      content: ({ token }) => Redacted.make(`${Redacted.value(token)}\n`),
      plan: planApiKeyRotation,
      rotate: rotateApiKey
    },
    name,
    flags
  )
).pipe(
  Command.validate((flags) => checkRotation(flags)),
  withExamples({
    "roster apikeys rotate ci-sync --out ci-sync.key": "Run it again to resume",
    "roster apikeys rotate ci-sync --exec 'vault kv put secret/ci key=-' --grace 7d":
      "Pass the secret to a command on stdin",
    "roster apikeys rotate ci-sync --dry-run": "Show what would be done"
  }),
  Command.provide(TargetLayer.layer)
)
