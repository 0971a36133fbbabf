/**
 * `roster exports`
 */
import { Command } from "effect/cli"
import { download } from "./exports/download.ts"
import { status } from "./exports/status.ts"

export const exports = Command.make("exports").pipe(
  Command.withDescription("Exports that were begun with: roster contacts export --no-wait"),
  Command.withExamples([{ command: "roster exports status 3fa85f64-5717-4562-b3fc-2c963f66afa6" }]),
  Command.withSubcommands([status, download])
)
