/**
 * `roster audit`
 */
import { Command } from "effect/cli"
import { list } from "./audit/list.ts"

export const audit = Command.make("audit").pipe(
  Command.withDescription("What was done with the credentials of a local store, and what was refused: list"),
  Command.withExamples([{ command: "roster audit list" }]),
  Command.withSubcommands([list])
)
