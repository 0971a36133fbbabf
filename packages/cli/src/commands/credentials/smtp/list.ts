/**
 * `roster smtp list`
 */
import { CredentialsService, SmtpCredentials } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"

const columns = ["Name", "Expires", "LastUse", "DateCreated"]

export const command = Command.make(
  "list",
  { subaccount },
  Effect.fnUntraced(function* ({ subaccount }) {
    const { smtp } = yield* CredentialsService
    yield* Results.records(SmtpCredentials, columns, Stream.fromArrayEffect(smtp.list({ subaccount })))
  })
).pipe(
  Command.withExamples([
    { command: "roster smtp list" },
    { command: "roster smtp list --subaccount team@example.com", description: "Those of a subaccount" }
  ]),
  Command.provide(TargetLayer.layer)
)
