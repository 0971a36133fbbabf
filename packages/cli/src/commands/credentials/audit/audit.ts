/**
 * `roster audit`
 */
import type { Group } from "../../shared/LazyCommands.ts"

export const audit = {
  name: "audit",
  description: "What was done with the credentials of a local store, and what was refused: list",
  examples: [{ command: "roster audit list" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List what was done with credentials and what was refused, the newest first",
      load: () => import("./list.ts")
    }
  ]
} as const satisfies Group
