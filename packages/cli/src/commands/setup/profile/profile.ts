/** `roster profile` */
import type { Group } from "../../shared/LazyCommands.ts"

const verb =
  <const V extends "list" | "use" | "remove">(name: V) =>
  async () => ({ command: (await import("./verbs.ts"))[name] })

export const profile = {
  name: "profile",
  description: "List, select and remove the profiles that roster auth login saves",
  examples: [{ command: "roster profile use production" }],
  subcommands: [
    { name: "list", alias: "ls", description: "List the profiles", load: verb("list") },
    { name: "use", description: "Make a profile the default", load: verb("use") },
    {
      name: "remove",
      alias: "rm",
      description: "Remove a profile and its key; nothing changes at the service",
      load: verb("remove")
    }
  ]
} as const satisfies Group
