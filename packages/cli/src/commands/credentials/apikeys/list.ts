/**
 * `roster apikeys list`
 */
import { ApiKey, CredentialsService } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"

const columns = ["Name", "AccessLevel", "Expires", "LastUse", "DateCreated"]

export const command = Command.make(
  "list",
  { subaccount },
  Effect.fnUntraced(function* ({ subaccount }) {
    const { apiKeys } = yield* CredentialsService
    yield* Results.records(ApiKey, columns, Stream.fromArrayEffect(apiKeys.list({ subaccount })))
  })
).pipe(
  Command.withExamples([
    { command: "roster apikeys list" },
    { command: "roster apikeys list --subaccount team@example.com", description: "Those of a subaccount" }
  ]),
  Command.provide(TargetLayer.layer)
)
