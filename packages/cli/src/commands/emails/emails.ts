/**
 * `roster emails`
 */
import type { Group } from "../shared/LazyCommands.ts"

export const emails = {
  name: "emails",
  description: "Mail: send",
  examples: [
    { command: "roster emails send --from news@example.com --to ann@example.com --subject Hello --text Hello" }
  ],
  subcommands: [{ name: "send", description: "Send a mail", load: () => import("./send.ts") }]
} as const satisfies Group
