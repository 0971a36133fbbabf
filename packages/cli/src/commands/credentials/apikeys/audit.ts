/**
 * `roster apikeys audit`
 */
import { CredentialsService } from "@roster/domain"
import { describeFinding, auditApiKeys } from "@roster/workflows"
import { DateTime, Duration, Effect, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import { span, toggle } from "../../shared/CommonFlags.ts"
import { KeyUse, layer } from "../KeyUse.ts"
import { Output } from "../../../terminal/Output.ts"
import { PartlyDone } from "../../../errors/UsageError.ts"
import * as Results from "../../../terminal/Results.ts"

const Row = Schema.Struct({
  Name: Schema.String,
  Finding: Schema.String,
  What: Schema.String,
  Advice: Schema.String
})

export const command = Command.make(
  "audit",
  {
    unusedFor: span("unused-for", "From how long on a key counts as unused", Duration.days(90)),
    expiring: span("expiring", "How long before its end a key counts as expiring", Duration.days(30)),
    failOnFindings: toggle("fail-on-findings", "End with 9 where something is found, for scripts"),
    subaccount
  },
  Effect.fnUntraced(function* ({ expiring, failOnFindings, subaccount, unusedFor }) {
    const { apiKeys } = yield* CredentialsService
    const output = yield* Output
    const keys = yield* apiKeys.list({ subaccount })
    const levelsUsed = yield* (yield* KeyUse).levelsUsed(subaccount)
    const now = yield* DateTime.now
    const findings = auditApiKeys(keys, { now, unusedFor, expiringWithin: expiring, levelsUsed })
    const rows = findings.map((finding) => {
      const { advice, what } = describeFinding(finding)
      return { Name: finding.name, Finding: finding._tag, What: what, Advice: advice }
    })
    yield* Results.records(Row, ["Name", "Finding", "What", "Advice"], Stream.fromIterable(rows))
    yield* output.note(
      levelsUsed === undefined
        ? "Levels that a key has and never needed are not among these: a service does not tell what a key was used for. Run this where the store lies, with --db FILE."
        : "Levels count as used since this store keeps a record of it."
    )
    if (failOnFindings && findings.length > 0) {
      return yield* new PartlyDone({
        message: `${findings.length} findings in ${new Set(findings.map(({ name }) => name)).size} keys.`,
        hint: "Do as the advice beside each finding says, or leave --fail-on-findings away."
      })
    }
  })
).pipe(
  Command.withExamples([
    { command: "roster apikeys audit" },
    { command: "roster apikeys audit --unused-for 30d --fail-on-findings", description: "In a script" },
    { command: "roster apikeys audit --db roster.db", description: "With the levels that were never used" }
  ]),
  Command.provide(layer)
)
