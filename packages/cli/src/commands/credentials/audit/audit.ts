/** `roster audit` */
import type { Group } from "../../shared/LazyCommands.ts"

export const audit = {
  name: "audit",
  description: "Show the audit trail of the credentials of a local store",
  examples: [{ command: "roster audit list" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List changes of credentials and refused attempts, newest first",
      load: () => import("./list.ts")
    }
  ]
} as const satisfies Group
