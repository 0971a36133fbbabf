/**
 * `roster apikeys`
 */
import type { Group } from "../../shared/LazyCommands.ts"

export const apikeys = {
  name: "apikeys",
  description: "API keys: list, get, create, update, rotate, audit, delete",
  examples: [{ command: "roster apikeys list" }],
  subcommands: [
    {
      name: "list",
      alias: "ls",
      description: "List the API keys, without their secrets",
      load: async () => ({ command: (await import("./verbs.ts")).list })
    },
    {
      name: "get",
      description: "Show an API key, without its secret",
      load: async () => ({ command: (await import("./verbs.ts")).get })
    },
    {
      name: "create",
      description: "Make an API key and show its secret, once",
      load: async () => ({ command: (await import("./verbs.ts")).create })
    },
    {
      name: "update",
      description: "Change what the flags name of the API key, and leave the rest",
      load: async () => ({ command: (await import("./verbs.ts")).update })
    },
    {
      name: "rotate",
      description: "Give an API key a new secret while it is in use: the old one works until it is left unused",
      load: () => import("./rotate.ts")
    },
    {
      name: "audit",
      description:
        "Find API keys that are unused, end soon, may do what they never did, or can be used from everywhere",
      load: () => import("./audit.ts")
    },
    {
      name: "delete",
      alias: "rm",
      description: "Delete an API key, which stops working at once",
      load: async () => ({ command: (await import("./verbs.ts")).remove })
    }
  ]
} as const satisfies Group
