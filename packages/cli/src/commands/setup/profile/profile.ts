/**
 * `roster profile`
 */
import type { Group } from "../../shared/LazyCommands.ts"

export const profile = {
  name: "profile",
  description: "Services under names, made by roster auth login: list, use, remove",
  examples: [{ command: "roster profile use production" }],
  subcommands: [
    { name: "list", alias: "ls", description: "List the profiles", load: () => import("./list.ts") },
    {
      name: "use",
      description: "Use a profile from now on, where no other is named",
      load: () => import("./use.ts")
    },
    {
      name: "remove",
      alias: "rm",
      description: "Remove a profile and the key that is kept in it; at the service nothing changes",
      load: () => import("./remove.ts")
    }
  ]
} as const satisfies Group
