/** `roster audit list` */
import { auditEntries, AuditEntry } from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { parsed, text } from "../../../settings/FlagForms.ts"
import { parseMoment, subaccount } from "../CredentialFlags.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { count, withExamples } from "../../shared/CommonFlags.ts"
import { Output } from "../../../terminal/Output.ts"
import * as Results from "../../../terminal/Results.ts"
import { rowOf } from "./AuditWords.ts"

const columns = ["time", "actor._tag", "actor.name", "operation", "subject", "outcome", "peer", "account"]

const since = parsed(
  "since",
  parseMoment("since", DateTime.subtractDuration, "2026-11-21, or a time before now such as 7d"),
  "Show entries since a date (UTC), or since a time before now (default: all)",
  "DATE|7d"
)

export const command = Command.make(
  "list",
  {
    since,
    key: text("key", "Show what was done with the key of this name (default: all)", "NAME"),
    subaccount,
    limit: count("limit", "Maximum number of entries to show (default: all)", 1)
  },
  Effect.fnUntraced(function* (query) {
    const trail = auditEntries(query)
    const { format } = yield* Output
    yield* format === "table"
      ? Results.rows(["When", "Who", "From", "Account", "What"], Stream.map(trail, rowOf), { hasSentences: true })
      : Results.records(AuditEntry, columns, trail)
  })
).pipe(
  withExamples({
    "roster audit list --since 7d": "",
    "roster audit list --key ci-sync --since 30d": "What was done with one key",
    "roster audit list -o json | jq '.[] | select(.outcome != \"Done\")'": "Show what was refused"
  }),
  Command.provide(TargetLayer.layerForReads)
)
