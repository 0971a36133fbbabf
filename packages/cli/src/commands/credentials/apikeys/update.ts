/**
 * `roster apikeys update`
 */
import { ApiKey, CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changed, keptLevels } from "../ChangedCredential.ts"
import {
  checkChanges,
  clearing,
  expires,
  ipRanges,
  levelFlags,
  levelsOf,
  namesLevels,
  subaccount
} from "../CredentialFlags.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name, rename } from "./name.ts"

export const command = Command.make(
  "update",
  { name, rename, ...levelFlags, expires, ipRanges, ...clearing, subaccount, dryRun },
  Effect.fnUntraced(function* ({ access, for: wanted, name, subaccount, ...changes }) {
    const { apiKeys } = yield* CredentialsService
    const current = yield* apiKeys.get(name, { subaccount })
    const levels = { access, for: wanted }
    const accessLevels = namesLevels(levels) ? yield* levelsOf(levels) : yield* keptLevels(current.accessLevels)
    const payload = {
      name: changes.rename ?? name,
      accessLevels,
      ...changed(current, changes),
      ...Results.omitUndefined({ subaccount })
    }
    yield* Results.record(ApiKey, yield* apiKeys.update(name, payload))
  })
).pipe(
  Command.validate((flags) => checkChanges(flags, namesLevels(flags))),
  Command.withExamples([
    { command: "roster apikeys update ci-sync --access ViewContacts,Export,Security" },
    { command: "roster apikeys update ci-sync --for contacts:read,export", description: "These and no others" },
    {
      command: "roster apikeys update ci-sync --rename ci-sync-old --expires 7d",
      description: "Another name, and an end"
    },
    { command: "roster apikeys update ci-sync --no-expiry --no-ip-range", description: "No end, from everywhere" }
  ]),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
