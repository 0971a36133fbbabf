/**
 * `roster smtp create`
 */
import { CredentialsService, NewSmtpCredentials, SmtpCredentials } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { expires, ipRanges, subaccount } from "../CredentialFlags.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { makeCredential, out } from "../NewCredential.ts"
import { omitUndefined } from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name } from "./name.ts"

export const command = Command.make(
  "create",
  { name, expires, ipRanges, out, subaccount, dryRun },
  Effect.fnUntraced(function* ({ expires, ipRanges, name, out, subaccount }) {
    const { smtp } = yield* CredentialsService
    yield* makeCredential({
      out,
      schema: NewSmtpCredentials,
      shown: SmtpCredentials,
      look: ["roster smtp get", name],
      subaccount,
      create: smtp.create({ name, ...omitUndefined({ expires, ipRanges, subaccount }) }),
      remove: (name) => smtp.delete(name, { subaccount })
    })
  })
).pipe(
  Command.withExamples([
    { command: "roster smtp create shop@example.com --expires 2030-12-31" },
    {
      command: "roster smtp create shop@example.com --out shop.password",
      description: "Keep the secret, which is shown once, in a file of its own"
    }
  ]),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
