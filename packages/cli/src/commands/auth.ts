/**
 * `roster auth`
 */
import type { Group } from "../Subcommands.ts"

export const auth = {
  name: "auth",
  description: "The keys of services, kept in profiles: login, status, logout",
  examples: [{ command: "roster auth login --base-url https://example.com/v4" }],
  subcommands: [
    {
      name: "login",
      description: "Keep the address and the key of a service in a profile, and use it from now on",
      load: () => import("./auth/login.ts")
    },
    {
      name: "status",
      description: "Say which service commands work on, and where its key comes from; asks nobody",
      load: () => import("./auth/status.ts")
    },
    {
      name: "logout",
      description: "Forget the key of a profile; its address stays",
      load: () => import("./auth/logout.ts")
    }
  ]
} as const satisfies Group
