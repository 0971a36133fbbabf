/**
 * `roster audit list`
 */
import { canonicalEmail, parseWireDate } from "@roster/domain"
import { DateTime, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import * as EmbeddedStore from "../../../target/EmbeddedStore.ts"
import { count } from "../../shared/CommonFlags.ts"
import * as Results from "../../../terminal/Results.ts"
import { parseDuration } from "../../../terminal/OutputFlags.ts"
import { invalid, refusedInput } from "../../../errors/UsageError.ts"

const columns = ["time", "actor._tag", "actor.name", "operation", "subject", "outcome", "peer", "account"]

const since = Flag.String("since").pipe(
  Flag.mapEffect((given) => {
    const span = parseDuration(given)
    if (span !== undefined) return Effect.map(DateTime.now, DateTime.subtractDuration(span))
    const date = parseWireDate(given)
    return date === undefined
      ? refusedInput(
          Effect.fail(invalid("since", "it is a date such as 2026-11-21, or a time back from now such as 7d"))
        )
      : Effect.succeed(date)
  }),
  Flag.withMetavar("DATE|7d"),
  Flag.withDescription("Entries of this time and later: a date (UTC), or a time back from now"),
  Flag.withDefault(undefined)
)

export const command = Command.make(
  "list",
  { since, subaccount, limit: count("limit", "How many at most: all unless said", 1, Number.MAX_SAFE_INTEGER) },
  Effect.fnUntraced(function* ({ limit, since, subaccount }) {
    const { AuditEntry, AuditQueries } = yield* EmbeddedStore.server
    const { entries } = yield* AuditQueries.AuditQueries
    yield* Results.records(
      AuditEntry,
      columns,
      entries(
        Results.omitUndefined({
          limit,
          since,
          account: subaccount === undefined ? undefined : canonicalEmail(subaccount)
        })
      )
    )
  })
).pipe(
  Command.withExamples([
    { command: "roster audit list --since 7d" },
    {
      command: "roster audit list -o json | jq '.[] | select(.outcome != \"Done\")'",
      description: "What was refused"
    }
  ]),
  Command.provide(
    Layer.unwrap(Effect.map(EmbeddedStore.server, ({ AuditQueries }) => AuditQueries.layer)).pipe(
      Layer.provideMerge(EmbeddedStore.layer)
    )
  )
)
