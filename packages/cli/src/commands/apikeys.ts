/**
 * `roster apikeys`
 */
import { Command } from "effect/cli"
import { create } from "./apikeys/create.ts"
import { deleteCommand } from "./apikeys/delete.ts"
import { get } from "./apikeys/get.ts"
import { list } from "./apikeys/list.ts"
import { update } from "./apikeys/update.ts"

export const apikeys = Command.make("apikeys").pipe(
  Command.withDescription("API keys: list, get, create, update, delete"),
  Command.withExamples([{ command: "roster apikeys list" }]),
  Command.withSubcommands([list, get, create, update, deleteCommand])
)
