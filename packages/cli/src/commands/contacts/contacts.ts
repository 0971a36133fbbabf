/**
 * `roster contacts`
 */
import type { Group } from "../shared/LazyCommands.ts"

export const contacts = {
  name: "contacts",
  description: "Contacts: list, get, add, update, delete, restore, import, export",
  examples: [
    { command: "roster contacts list" },
    { command: "roster contacts import contacts.csv", description: "Add the contacts of a file" }
  ],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List contacts in the order in which they were added",
      load: () => import("./list.ts")
    },
    {
      name: "get",
      description: "Show everything that is known of a contact",
      load: async () => ({ command: (await import("./verbs.ts")).get })
    },
    {
      name: "add",
      description: "Add a contact, or update the one that has this address",
      load: async () => ({ command: (await import("./verbs.ts")).add })
    },
    {
      name: "update",
      description: "Change names and custom fields of a contact, and leave the rest",
      load: async () => ({ command: (await import("./verbs.ts")).update })
    },
    {
      name: "delete",
      alias: "rm",
      description: "Delete contacts everywhere, from all lists; those of a rule are counted and kept in a file before",
      load: () => import("./delete/delete.ts")
    },
    {
      name: "restore",
      description: "Bring contacts back from the file that a delete kept",
      load: () => import("./restore.ts")
    },
    {
      name: "import",
      description: "Add the contacts of a CSV file, or update those that are there",
      load: () => import("./import/import.ts")
    },
    {
      name: "export",
      description: "Export contacts to a file: all of them, those of a rule or those that are named",
      load: () => import("./export.ts")
    }
  ]
} as const satisfies Group
