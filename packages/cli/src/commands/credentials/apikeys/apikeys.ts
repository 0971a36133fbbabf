/** `roster apikeys` */
import type { Group } from "../../shared/LazyCommands.ts"

const verb =
  <const V extends "list" | "get" | "create" | "update" | "remove">(name: V) =>
  async () => ({ command: (await import("./verbs.ts"))[name] })

export const apikeys = {
  name: "apikeys",
  description: "List, create, update, rotate, audit and delete API keys",
  examples: [{ command: "roster apikeys list" }],
  subcommands: [
    { name: "list", alias: "ls", description: "List API keys, without their secrets", load: verb("list") },
    { name: "get", description: "Show an API key, without its secret", load: verb("get") },
    { name: "create", description: "Create an API key and show its secret once", load: verb("create") },
    { name: "update", description: "Change the given settings of an API key, and no others", load: verb("update") },
    {
      name: "rotate",
      description: "Replace the secret of an API key; the old one works until it is no longer used",
      load: () => import("./rotate.ts")
    },
    {
      name: "audit",
      description: "Find API keys that are unused, expire soon, have unused access levels or have no IP ranges",
      load: () => import("./audit.ts")
    },
    { name: "delete", alias: "rm", description: "Delete an API key; it stops working at once", load: verb("remove") }
  ]
} as const satisfies Group
