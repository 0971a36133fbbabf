/**
 * `roster jobs list`
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { count } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"

const columns = ["id", "kind", "state", "running", "created", "rowsDone", "accepted", "rejected", "duplicates"]

export const command = Command.make(
  "list",
  { limit: count("limit", "How many at most: all unless said", 1, Number.MAX_SAFE_INTEGER) },
  Effect.fnUntraced(function* ({ limit }) {
    const { Job, Jobs } = yield* EmbeddedStore.server
    const jobs = yield* Jobs.Jobs
    yield* Results.records(Job, columns, jobs.list({ limit }))
  })
).pipe(
  Command.withExamples([
    { command: "roster jobs list --limit 10" },
    {
      command: "roster jobs list --db roster.db -o json | jq '.[] | select(.running)'",
      description: "Those that are worked on now"
    }
  ]),
  Command.provide(EmbeddedStore.layerJobs)
)
