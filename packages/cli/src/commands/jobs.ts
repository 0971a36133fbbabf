/**
 * `roster jobs`
 */
import { Command } from "effect/cli"
import { cancel } from "./jobs/cancel.ts"
import { get } from "./jobs/get.ts"
import { list } from "./jobs/list.ts"

export const jobs = Command.make("jobs").pipe(
  Command.withDescription(
    "See and cancel the imports and exports of a store of this machine; over the network the interface has no status of imports"
  ),
  Command.withExamples([{ command: "roster jobs list --db roster.db" }]),
  Command.withSubcommands([list, get, cancel])
)
