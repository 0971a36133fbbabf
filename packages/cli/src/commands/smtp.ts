/**
 * `roster smtp`
 */
import { Command } from "effect/cli"
import { create } from "./smtp/create.ts"
import { deleteCommand } from "./smtp/delete.ts"
import { get } from "./smtp/get.ts"
import { list } from "./smtp/list.ts"
import { rotate } from "./smtp/rotate.ts"
import { update } from "./smtp/update.ts"

export const smtp = Command.make("smtp").pipe(
  Command.withDescription("SMTP credentials: list, get, create, update, rotate, delete"),
  Command.withExamples([{ command: "roster smtp list" }]),
  Command.withSubcommands([list, get, create, update, rotate, deleteCommand])
)
