/**
 * `roster profile`
 */
import type { Group } from "../../shared/LazyCommands.ts"

export const profile = {
  name: "profile",
  description: "Services under names, made by roster auth login: list, use, remove",
  examples: [{ command: "roster profile use production" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List the profiles",
      load: async () => ({ command: (await import("./verbs.ts")).list })
    },
    {
      name: "use",
      description: "Use a profile from now on, where no other is named",
      load: async () => ({ command: (await import("./verbs.ts")).use })
    },
    {
      name: "remove",
      alias: "rm",
      description: "Remove a profile and the key that is kept in it; at the service nothing changes",
      load: async () => ({ command: (await import("./verbs.ts")).remove })
    }
  ]
} as const satisfies Group
