/**
 * `roster config`
 */
import type { Group } from "../../shared/LazyCommands.ts"

export const config = {
  name: "config",
  description: "The settings that commands work by",
  examples: [{ command: "roster config list --show-origin" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List the settings that are in force; of a key only its end",
      load: () => import("./list.ts")
    }
  ]
} as const satisfies Group
