/** `roster smtp rotate` */
import { NewSmtpCredentials } from "@roster/domain"
import { planSmtpRotation, rotateSmtp } from "@roster/workflows"
import { Redacted } from "effect"
import { Command } from "effect/cli"
import { checkRotation, rotationFlags, runRotation } from "../rotation/Rotation.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name } from "./verbs.ts"
import { withExamples } from "../../shared/CommonFlags.ts"

export const command = Command.make("rotate", { name, ...rotationFlags }, ({ name, ...flags }) =>
  runRotation(
    {
      kind: "smtp",
      schema: NewSmtpCredentials,
      content: ({ name, token }) => Redacted.make(`${name}\n${Redacted.value(token)}\n`),
      plan: planSmtpRotation,
      rotate: rotateSmtp
    },
    name,
    flags
  )
).pipe(
  Command.validate((flags) => checkRotation(flags)),
  withExamples({
    "roster smtp rotate shop@example.com --out shop.login": "Run it again to resume",
    "roster smtp rotate shop@example.com --dry-run": "Show what would be done"
  }),
  Command.provide(TargetLayer.layer)
)
