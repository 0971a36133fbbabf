/**
 * `roster apikeys create`
 */
import { ApiKey, CredentialsService, NewApiKey } from "@roster/domain"
import { Effect } from "effect"
import { CliError, Command } from "effect/cli"
import { expires, ipRanges, levelFlags, levelsOf, namesLevels, subaccount } from "../CredentialFlags.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { makeCredential, out } from "../NewCredential.ts"
import { omitUndefined } from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name } from "./name.ts"

export const command = Command.make(
  "create",
  { name, ...levelFlags, expires, ipRanges, out, subaccount, dryRun },
  Effect.fnUntraced(function* ({ expires, ipRanges, name, out, subaccount, ...levels }) {
    const { apiKeys } = yield* CredentialsService
    const accessLevels = yield* levelsOf(levels)
    yield* makeCredential({
      out,
      schema: NewApiKey,
      shown: ApiKey,
      look: ["roster apikeys get", name],
      subaccount,
      create: apiKeys.create({ name, accessLevels, ...omitUndefined({ expires, ipRanges, subaccount }) }),
      remove: (name) => apiKeys.delete(name, { subaccount })
    })
  })
).pipe(
  Command.validate((flags) =>
    namesLevels(flags)
      ? Effect.void
      : Effect.fail(
          new CliError.ValidationError({
            message: "Say what the key may do: --for contacts:read,export, or --access ViewContacts,Export."
          })
        )
  ),
  Command.withExamples([
    { command: "roster apikeys create ci-sync --for contacts:read,export --expires 30d" },
    {
      command: "roster apikeys create ci-sync --access ViewContacts,Export --expires 30d",
      description: "The same, by access levels"
    },
    {
      command: "roster apikeys create office --access ModifyContacts --ip-range 192.0.2.0/24",
      description: "Usable from one network"
    },
    {
      command: "roster apikeys create ci-sync --access Export --out ci-sync.key",
      description: "Keep the secret, which is shown once, in a file of its own"
    }
  ]),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
