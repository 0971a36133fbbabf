/**
 * `roster smtp create`
 */
import { CredentialsService, NewSmtpCredentials } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { expires, ipRanges, subaccount } from "../../CredentialFlags.ts"
import { newSecret } from "../../NewSecret.ts"
import { present } from "../../Present.ts"
import * as Target from "../../Target.ts"
import { name } from "./name.ts"

export const create = Command.make(
  "create",
  { name, expires, ipRanges, subaccount },
  Effect.fnUntraced(function* ({ expires, ipRanges, name, subaccount }) {
    const { smtp } = yield* CredentialsService
    yield* newSecret(NewSmtpCredentials, yield* smtp.create({ name, ...present({ expires, ipRanges, subaccount }) }))
  })
).pipe(
  Command.withDescription("Make SMTP credentials and show their secret, once"),
  Command.withExamples([
    { command: "roster smtp create shop@example.com --expires 2030-12-31" },
    {
      command: "roster smtp create shop@example.com -o json | jq -r .Token > password",
      description: "Keep the secret, which is shown once"
    }
  ]),
  Command.provide(Target.layer)
)
