/** `roster config` */
import type { Group } from "../../shared/LazyCommands.ts"

export const config = {
  name: "config",
  description: "Show the settings in effect",
  examples: [{ command: "roster config list --show-origin" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List the settings in effect; of a key, only its last characters",
      load: () => import("./list.ts")
    }
  ]
} as const satisfies Group
