/**
 * `roster config`
 */
import { Command } from "effect/cli"
import { list } from "./config/list.ts"

export const config = Command.make("config").pipe(
  Command.withDescription("The settings that commands work by"),
  Command.withExamples([{ command: "roster config list --show-origin" }]),
  Command.withSubcommands([list])
)
