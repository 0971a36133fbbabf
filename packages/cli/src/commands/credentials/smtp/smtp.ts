/** `roster smtp` */
import type { Group } from "../../shared/LazyCommands.ts"

const verb =
  <const V extends "list" | "get" | "create" | "update" | "remove">(name: V) =>
  async () => ({ command: (await import("./verbs.ts"))[name] })

export const smtp = {
  name: "smtp",
  description: "List, create, update, rotate and delete SMTP credentials",
  examples: [{ command: "roster smtp list" }],
  subcommands: [
    { name: "list", alias: "ls", description: "List SMTP credentials, without their secrets", load: verb("list") },
    { name: "get", description: "Show SMTP credentials, without their secret", load: verb("get") },
    { name: "create", description: "Create SMTP credentials and show their secret once", load: verb("create") },
    {
      name: "update",
      description: "Change the given settings of SMTP credentials, and no others",
      load: verb("update")
    },
    {
      name: "rotate",
      description:
        "Replace SMTP credentials with new ones, whose name contains the date; --out and --exec get the name and the secret, one per line",
      load: () => import("./rotate.ts")
    },
    {
      name: "delete",
      alias: "rm",
      description: "Delete SMTP credentials; they stop working at once",
      load: verb("remove")
    }
  ]
} as const satisfies Group
