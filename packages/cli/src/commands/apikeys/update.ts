/**
 * `roster apikeys update`
 */
import { ApiKey, CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changed, keptLevels } from "../../CredentialChange.ts"
import { access, checkChanges, clearing, expires, ipRanges, subaccount } from "../../CredentialFlags.ts"
import { present } from "../../Present.ts"
import * as Results from "../../Results.ts"
import * as Target from "../../Target.ts"
import { name, rename } from "./name.ts"

export const update = Command.make(
  "update",
  { name, rename, access: access(0), expires, ipRanges, ...clearing, subaccount },
  Effect.fnUntraced(function* ({ access, name, subaccount, ...changes }) {
    const { apiKeys } = yield* CredentialsService
    const current = yield* apiKeys.get(name, { subaccount })
    const accessLevels = access.length > 0 ? access : yield* keptLevels(current.accessLevels)
    const payload = {
      name: changes.rename ?? name,
      accessLevels,
      ...changed(current, changes),
      ...present({ subaccount })
    }
    yield* Results.record(ApiKey, yield* apiKeys.update(name, payload))
  })
).pipe(
  Command.validate(({ access, ...changes }) => checkChanges(changes, access.length > 0)),
  Command.withDescription("Change what the flags name of the API key, and leave the rest"),
  Command.withExamples([
    { command: "roster apikeys update ci-sync --access ViewContacts,Export,Security" },
    {
      command: "roster apikeys update ci-sync --rename ci-sync-old --expires 7d",
      description: "Another name, and an end"
    },
    { command: "roster apikeys update ci-sync --no-expiry --no-ip-range", description: "No end, from everywhere" }
  ]),
  Command.provide(Target.layer)
)
