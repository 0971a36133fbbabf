/** `roster contacts` */
import type { Group } from "../shared/LazyCommands.ts"

const verb =
  <const V extends "get" | "add" | "update">(name: V) =>
  async () => ({ command: (await import("./verbs.ts"))[name] })

export const contacts = {
  name: "contacts",
  description: "List, add, update, delete, restore, import and export contacts",
  examples: [
    { command: "roster contacts list" },
    { command: "roster contacts import contacts.csv", description: "Import the contacts of a file" }
  ],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List contacts in the order they were added",
      load: () => import("./list.ts")
    },
    { name: "get", description: "Show a contact with all its fields", load: verb("get") },
    { name: "add", description: "Add a contact, or update the one with the same address", load: verb("add") },
    { name: "update", description: "Change the names and custom fields of a contact", load: verb("update") },
    {
      name: "delete",
      alias: "rm",
      description: "Delete contacts from all lists; contacts that a rule selects are counted and backed up first",
      load: () => import("./delete/delete.ts")
    },
    {
      name: "restore",
      description: "Restore contacts from the backup that a delete wrote",
      load: () => import("./restore.ts")
    },
    { name: "import", description: "Add or update contacts from a CSV file", load: () => import("./import/import.ts") },
    {
      name: "export",
      description: "Export all contacts, those that a rule selects, or those named by address",
      load: () => import("./export.ts")
    }
  ]
} as const satisfies Group
