/**
 * `roster auth`
 */
import { Command } from "effect/cli"
import { login } from "./auth/login.ts"
import { logout } from "./auth/logout.ts"
import { status } from "./auth/status.ts"

export const auth = Command.make("auth").pipe(
  Command.withDescription("The keys of services, kept in profiles: login, status, logout"),
  Command.withExamples([{ command: "roster auth login --base-url https://example.com/v4" }]),
  Command.withSubcommands([login, status, logout])
)
