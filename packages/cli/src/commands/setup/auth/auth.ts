/**
 * `roster auth`
 */
import type { Group } from "../../shared/LazyCommands.ts"

export const auth = {
  name: "auth",
  description: "The keys of services, kept in profiles: login, status, logout",
  examples: [{ command: "roster auth login --base-url https://example.com/v4" }],
  subcommands: [
    {
      name: "login",
      description: "Keep the address and the key of a service in a profile, and use it from now on",
      load: () => import("./login.ts")
    },
    {
      name: "status",
      description: "Say which service commands work on, and where its key comes from; asks nobody",
      load: async () => ({ command: (await import("./verbs.ts")).status })
    },
    {
      name: "logout",
      description: "Forget the key of a profile; its address stays",
      load: async () => ({ command: (await import("./verbs.ts")).logout })
    }
  ]
} as const satisfies Group
