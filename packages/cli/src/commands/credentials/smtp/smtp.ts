/**
 * `roster smtp`
 */
import type { Group } from "../../shared/LazyCommands.ts"

export const smtp = {
  name: "smtp",
  description: "SMTP credentials: list, get, create, update, rotate, delete",
  examples: [{ command: "roster smtp list" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List the SMTP credentials, without their secrets",
      load: async () => ({ command: (await import("./verbs.ts")).list })
    },
    {
      name: "get",
      description: "Show SMTP credentials, without their secret",
      load: async () => ({ command: (await import("./verbs.ts")).get })
    },
    {
      name: "create",
      description: "Make SMTP credentials and show their secret, once",
      load: async () => ({ command: (await import("./verbs.ts")).create })
    },
    {
      name: "update",
      description: "Change what the flags name of the SMTP credentials, and leave the rest",
      load: async () => ({ command: (await import("./verbs.ts")).update })
    },
    {
      name: "rotate",
      description:
        "Replace SMTP credentials while they are in use, by new ones whose name has the date; files and commands get the name on one line and the secret on the next",
      load: () => import("./rotate.ts")
    },
    {
      name: "delete",
      alias: "rm",
      description: "Delete SMTP credentials, which stop working at once",
      load: async () => ({ command: (await import("./verbs.ts")).remove })
    }
  ]
} as const satisfies Group
