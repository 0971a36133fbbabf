/**
 * `roster apikeys get`
 */
import { ApiKey, CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { name } from "./name.ts"

export const command = Command.make(
  "get",
  { name, subaccount },
  Effect.fnUntraced(function* ({ name, subaccount }) {
    const { apiKeys } = yield* CredentialsService
    yield* Results.record(ApiKey, yield* apiKeys.get(name, { subaccount }))
  })
).pipe(Command.withExamples([{ command: "roster apikeys get ci-sync" }]), Command.provide(TargetLayer.layer))
