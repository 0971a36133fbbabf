/** `roster apikeys audit` */
import { AccountService, CredentialsService, type EmailAddress, orWhereUntold } from "@roster/domain"
import { describeFinding, auditApiKeys } from "@roster/workflows"
import { DateTime, Duration, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import { PartlyDone } from "../../../errors/UsageError.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { Output } from "../../../terminal/Output.ts"
import * as Results from "../../../terminal/Results.ts"
import { toggle } from "../../../settings/FlagForms.ts"
import { duration, optionalDuration, withExamples } from "../../shared/CommonFlags.ts"

/** The keys, and the access levels that each was used for, by name, if the service tells them. */
const keysAndUse = Effect.fnUntraced(function* (subaccount: EmailAddress | undefined) {
  const keys = yield* (yield* CredentialsService).apiKeys.list({ subaccount })
  const uses = yield* (yield* AccountService).keyUses({ subaccount }).pipe(orWhereUntold(Effect.undefined))
  const levelsUsed =
    uses && new Map(uses.map(({ levels, name }) => [name, new Set<string>(levels.map(({ level }) => level))]))
  return { keys, levelsUsed }
})

export const command = Command.make(
  "audit",
  {
    unusedFor: duration("unused-for", "Report keys not used for this long", Duration.days(90)),
    expiring: optionalDuration(
      "expiring",
      "Report keys that expire within this time (default: the last tenth of their life, at most 30d)"
    ),
    fail: toggle("fail", "Exit with code 9 while a replaced key was used in the last day, before it ends"),
    failOnFindings: toggle("fail-on-findings", "Exit with code 9 if there are findings, for scripts"),
    subaccount
  },
  Effect.fnUntraced(function* ({ expiring, fail, failOnFindings, subaccount, unusedFor }) {
    const output = yield* Output
    const { keys, levelsUsed } = yield* keysAndUse(subaccount)
    const now = yield* DateTime.now
    const findings = auditApiKeys(keys, { now, unusedFor, expiringWithin: expiring, levelsUsed })
    const rows = findings.map((finding) => {
      const { advice, what } = describeFinding(finding)
      return { Name: finding.name, Finding: finding._tag, What: what, Advice: advice }
    })
    yield* Results.rows(["Name", "Finding", "What", "Advice"], Stream.fromIterable(rows), { hasSentences: true })
    yield* output.note(
      levelsUsed === undefined
        ? "Unused access levels are not checked: this service does not report what a key was used for."
        : "Use of access levels is known only since the store began to record it."
    )
    const inUse = findings.filter(({ _tag }) => _tag === "ReplacedInUse")
    if (fail && inUse.length > 0) {
      return yield* new PartlyDone({
        message: `${inUse.length === 1 ? "A replaced key is" : `${inUse.length} replaced keys are`} still used: ${inUse.map(({ name }) => name).join(", ")}.`,
        hint: "Give the new secret to the programs that use them, or a later end: roster apikeys update NAME --expires 7d"
      })
    }
    if (failOnFindings && findings.length > 0) {
      return yield* new PartlyDone({
        message: `${findings.length} findings in ${new Set(findings.map(({ name }) => name)).size} keys.`,
        hint: "Follow the advice for each finding, or omit --fail-on-findings."
      })
    }
  })
).pipe(
  withExamples({
    "roster apikeys audit": "",
    "roster apikeys audit --fail": "For a script: whether a rotation still waits for a program",
    "roster apikeys audit --unused-for 30d --fail-on-findings": "For a script"
  }),
  Command.provide(TargetLayer.layerForReads)
)
