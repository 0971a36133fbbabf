/**
 * `roster smtp update`
 */
import { CredentialsService, SmtpCredentials } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changed } from "../ChangedCredential.ts"
import { checkChanges, clearing, expires, ipRanges, subaccount } from "../CredentialFlags.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name, rename } from "./name.ts"

export const command = Command.make(
  "update",
  { name, rename, expires, ipRanges, ...clearing, subaccount, dryRun },
  Effect.fnUntraced(function* ({ name, subaccount, ...changes }) {
    const { smtp } = yield* CredentialsService
    const current = yield* smtp.get(name, { subaccount })
    const payload = {
      name: changes.rename ?? name,
      ...changed(current, changes),
      ...Results.omitUndefined({ subaccount })
    }
    yield* Results.record(SmtpCredentials, yield* smtp.update(name, payload))
  })
).pipe(
  Command.validate((changes) => checkChanges(changes, false)),
  Command.withExamples([
    { command: "roster smtp update shop@example.com --expires 30d" },
    { command: "roster smtp update shop@example.com --rename sales@example.com", description: "Another name" },
    { command: "roster smtp update shop@example.com --no-expiry --no-ip-range", description: "No end, from everywhere" }
  ]),
  Command.provide(({ dryRun }) => TargetLayer.layerForWrites({ dryRun }))
)
