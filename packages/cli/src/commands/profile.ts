/**
 * `roster profile`
 */
import { Command } from "effect/cli"
import { list } from "./profile/list.ts"
import { remove } from "./profile/remove.ts"
import { use } from "./profile/use.ts"

export const profile = Command.make("profile").pipe(
  Command.withDescription("Services under names, made by roster auth login: list, use, remove"),
  Command.withExamples([{ command: "roster profile use production" }]),
  Command.withSubcommands([list, use, remove])
)
