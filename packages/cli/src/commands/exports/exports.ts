/**
 * `roster exports`
 */
import type { Group } from "../shared/LazyCommands.ts"

export const exports = {
  name: "exports",
  description: "Exports that were begun with: roster contacts export --no-wait",
  examples: [{ command: "roster exports status 3fa85f64-5717-4562-b3fc-2c963f66afa6" }],
  subcommands: [
    {
      name: "status",
      description: "Show where an export stands: Loading, Ready, Error or Expired; ends with 10 for the last two",
      load: () => import("./status.ts")
    },
    {
      name: "download",
      description: "Fetch the file of an export that is ready",
      load: () => import("./download.ts")
    }
  ]
} as const satisfies Group
