/**
 * `roster smtp delete`
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
    const { smtp } = yield* CredentialsService
    yield* confirm(`delete the SMTP credentials ${name}, which stop working at once`, { yes: yes || dryRun })
    yield* smtp.delete(name, { subaccount })
    yield* Results.done(`Deleted the SMTP credentials ${name}`)
  })
).pipe(
  Command.withExamples([
    { command: "roster smtp delete shop@example.com" },
    { command: "roster smtp delete shop@example.com --yes", description: "Without being asked" }
  ]),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
