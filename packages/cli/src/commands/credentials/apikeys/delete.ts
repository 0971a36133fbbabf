/**
 * `roster apikeys delete`
 */
import { CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { confirm, yes } from "../../shared/Confirm.ts"
import { subaccount } from "../CredentialFlags.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name } from "./name.ts"

export const command = Command.make(
  "delete",
  { name, subaccount, yes, dryRun },
  Effect.fnUntraced(function* ({ dryRun, name, subaccount, yes }) {
    const { apiKeys } = yield* CredentialsService
    yield* confirm(`delete the API key ${name}, which stops working at once`, { yes: yes || dryRun })
    yield* apiKeys.delete(name, { subaccount })
    yield* Results.done(`Deleted the API key ${name}`)
  })
).pipe(
  Command.withExamples([
    { command: "roster apikeys delete ci-sync" },
    { command: "roster apikeys delete ci-sync --yes", description: "Without being asked" }
  ]),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
