/**
 * `roster contacts`
 */
import { Command } from "effect/cli"
import { add } from "./contacts/add.ts"
import { deleteCommand } from "./contacts/delete.ts"
import { exportCommand } from "./contacts/export.ts"
import { get } from "./contacts/get.ts"
import { importCommand } from "./contacts/import.ts"
import { list } from "./contacts/list.ts"
import { restore } from "./contacts/restore.ts"
import { update } from "./contacts/update.ts"

export const contacts = Command.make("contacts").pipe(
  Command.withDescription("Contacts: list, get, add, update, delete, restore, import, export"),
  Command.withExamples([
    { command: "roster contacts list" },
    { command: "roster contacts import contacts.csv", description: "Add the contacts of a file" }
  ]),
  Command.withSubcommands([list, get, add, update, deleteCommand, restore, importCommand, exportCommand])
)
