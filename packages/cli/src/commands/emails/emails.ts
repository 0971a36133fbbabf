/** `roster emails` */
import type { Group } from "../shared/LazyCommands.ts"

export const emails = {
  name: "emails",
  description: "Send e-mails",
  examples: [
    { command: "roster emails send --from news@example.com --to ann@example.com --subject Hello --text Hello" }
  ],
  subcommands: [{ name: "send", description: "Send an e-mail", load: () => import("./send.ts") }]
} as const satisfies Group
