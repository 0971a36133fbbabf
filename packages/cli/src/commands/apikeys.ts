/**
 * `roster apikeys`
 */
import { Command } from "effect/cli"
import { audit } from "./apikeys/audit.ts"
import { create } from "./apikeys/create.ts"
import { deleteCommand } from "./apikeys/delete.ts"
import { get } from "./apikeys/get.ts"
import { list } from "./apikeys/list.ts"
import { rotate } from "./apikeys/rotate.ts"
import { update } from "./apikeys/update.ts"

export const apikeys = Command.make("apikeys").pipe(
  Command.withDescription("API keys: list, get, create, update, rotate, audit, delete"),
  Command.withExamples([{ command: "roster apikeys list" }]),
  Command.withSubcommands([list, get, create, update, rotate, audit, deleteCommand])
)
