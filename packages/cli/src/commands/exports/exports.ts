/** `roster exports` */
import type { Group } from "../shared/LazyCommands.ts"

export const exports = {
  name: "exports",
  description: "Check and download exports started with: roster contacts export --no-wait",
  examples: [{ command: "roster exports status 3fa85f64-5717-4562-b3fc-2c963f66afa6" }],
  subcommands: [
    {
      name: "status",
      description: "Show the status of an export: Loading, Ready, Error or Expired (exit code 10 for the last two)",
      load: () => import("./status.ts")
    },
    { name: "download", description: "Download the file of a finished export", load: () => import("./download.ts") }
  ]
} as const satisfies Group
