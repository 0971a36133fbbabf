/** `roster auth` */
import type { Group } from "../../shared/LazyCommands.ts"

const verb =
  <const V extends "status" | "logout">(name: V) =>
  async () => ({ command: (await import("./verbs.ts"))[name] })

export const auth = {
  name: "auth",
  description: "Log in to a service, log out, and show which key is used",
  examples: [{ command: "roster auth login --base-url https://example.com/v4" }],
  subcommands: [
    {
      name: "login",
      description: "Save the address and the key of a service in a profile, and make it the default",
      load: () => import("./login.ts")
    },
    {
      name: "status",
      description: "Show the service in use and where its key comes from, without a request",
      load: verb("status")
    },
    { name: "logout", description: "Remove the key from a profile; its address stays", load: verb("logout") }
  ]
} as const satisfies Group
