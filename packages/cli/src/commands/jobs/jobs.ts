/** `roster jobs` */
import type { Group } from "../shared/LazyCommands.ts"

const verb =
  <const V extends "list" | "get" | "cancel">(name: V) =>
  async () => ({ command: (await import("./verbs.ts"))[name] })

export const jobs = {
  name: "jobs",
  description: "List and cancel the imports and exports of a local store (a remote service has no status of imports)",
  examples: [{ command: "roster jobs list --db roster.db" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List imports and exports, newest first; finished ones are kept for 30 days",
      load: verb("list")
    },
    { name: "get", description: "Show an import or export, or the rows that an import rejected", load: verb("get") },
    {
      name: "cancel",
      description: "Cancel an import or export; contacts that were already imported stay",
      load: verb("cancel")
    }
  ]
} as const satisfies Group
