/**
 * `roster emails`
 */
import { Command } from "effect/cli"
import { send } from "./emails/send.ts"

export const emails = Command.make("emails").pipe(
  Command.withDescription("Mail: send"),
  Command.withExamples([
    { command: "roster emails send --from news@example.com --to ann@example.com --subject Hello --text Hello" }
  ]),
  Command.withSubcommands([send])
)
