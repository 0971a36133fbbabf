/** `roster contacts history` */
import { HistoryEntry } from "@roster/domain"
import { historyBy, historyEffect, historyPages, historyWords, newestHistory } from "@roster/workflows"
import { DateTime, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { toggle } from "../../settings/FlagForms.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"
import { count, email, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

/** Number of entries that are shown unless the command line says how many. */
const shownByDefault = 20

/** An entry as people read it. */
const rowOf = (entry: HistoryEntry) => ({
  When: DateTime.formatIso(entry.date),
  What: historyEffect(entry),
  By: historyBy(entry),
  Key: entry.key ?? "",
  Change: historyWords(entry).join(", ")
})

const print = Effect.fnUntraced(function* <E, R>(entries: Stream.Stream<HistoryEntry, E, R>) {
  const { format } = yield* Output
  yield* format === "json" || format === "ndjson"
    ? Results.records(HistoryEntry, [], entries)
    : Results.rows(["When", "What", "By", "Key", "Change"], Stream.map(entries, rowOf), { hasSentences: true })
})

export const command = Command.make(
  "history",
  {
    email,
    limit: count("limit", `Maximum number of entries to show (default: ${shownByDefault})`, 1),
    all: toggle("all", "Show all entries")
  },
  Effect.fnUntraced(function* ({ all, email, limit }) {
    if (all) return yield* print(Stream.flatMap(historyPages(email), ({ entries }) => Stream.fromIterable(entries)))
    const output = yield* Output
    const { entries, exists, hasMore } = yield* newestHistory(email, limit ?? shownByDefault)
    yield* print(Stream.fromIterable(entries))
    if (!exists) yield* output.note("There is no such contact now.")
    if (hasMore && limit === undefined) {
      yield* output.note(`${shownByDefault} entries, and there are more; --all shows them`)
    }
  })
).pipe(
  Command.validate(({ all, limit }) =>
    refuseFlags([all && limit !== undefined, "--all and --limit cannot be used together."])
  ),
  withExamples({
    "roster contacts history ann@example.com": "",
    "roster contacts history ann@example.com --all -o json | jq '.[] | select(.Fields.Status)'":
      "Print each status that the contact was given, with the time and the key"
  }),
  Command.provide(TargetLayer.layerForReads)
)
