/**
 * `roster smtp get`
 */
import { CredentialsService, SmtpCredentials } from "@roster/domain"
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
    const { smtp } = yield* CredentialsService
    yield* Results.record(SmtpCredentials, yield* smtp.get(name, { subaccount }))
  })
).pipe(Command.withExamples([{ command: "roster smtp get shop@example.com" }]), Command.provide(TargetLayer.layer))
