/** Where benchmarks find the command line, and where they put what they make. */
import { Effect, type Scope } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** What is kept from run to run, and can be deleted at any time. */
export const built = join(root, "benchmarks/.built")

/** The command line as it is published, which `pnpm bench` makes first. */
export const roster = join(root, "packages/cli/dist/roster.js")

/**
 * A folder that goes with the scope, on the disk of the checkout: that of temporary files may be in memory, where nothing is
 * synced.
 */
export const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    mkdirSync(built, { recursive: true })
    return mkdtempSync(join(built, "store-"))
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)
