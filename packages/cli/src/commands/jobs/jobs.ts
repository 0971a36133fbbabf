/**
 * `roster jobs`
 */
import type { Group } from "../shared/LazyCommands.ts"

export const jobs = {
  name: "jobs",
  description:
    "See and cancel the imports and exports of a store of this machine; over the network the interface has no status of imports",
  examples: [{ command: "roster jobs list --db roster.db" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List the imports and exports, the newest first; those that ended, for 30 days",
      load: async () => ({ command: (await import("./verbs.ts")).list })
    },
    {
      name: "get",
      description: "Show everything that is known of an import or export, or the rows that an import rejected",
      load: async () => ({ command: (await import("./verbs.ts")).get })
    },
    {
      name: "cancel",
      description: "Cancel an import or export; the contacts that an import has brought so far stay",
      load: async () => ({ command: (await import("./verbs.ts")).cancel })
    }
  ]
} as const satisfies Group
