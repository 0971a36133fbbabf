/**
 * `roster apikeys create`
 */
import { CredentialsService, NewApiKey } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { access, expires, ipRanges, subaccount } from "../../CredentialFlags.ts"
import { newSecret } from "../../NewSecret.ts"
import { present } from "../../Present.ts"
import * as Target from "../../Target.ts"
import { name } from "./name.ts"

export const create = Command.make(
  "create",
  { name, access: access(1), expires, ipRanges, subaccount },
  Effect.fnUntraced(function* ({ access, expires, ipRanges, name, subaccount }) {
    const { apiKeys } = yield* CredentialsService
    yield* newSecret(
      NewApiKey,
      yield* apiKeys.create({ name, accessLevels: access, ...present({ expires, ipRanges, subaccount }) })
    )
  })
).pipe(
  Command.withDescription("Make an API key and show its secret, once"),
  Command.withExamples([
    { command: "roster apikeys create ci-sync --access ViewContacts,Export --expires 30d" },
    {
      command: "roster apikeys create office --access ModifyContacts --ip-range 192.0.2.0/24",
      description: "Usable from one network"
    },
    {
      command: "roster apikeys create ci-sync --access Export -o json | jq -r .Token > key",
      description: "Keep the secret, which is shown once"
    }
  ]),
  Command.provide(Target.layer)
)
