/**
 * The command line as one file that needs nothing but Node: what `npx @roster/cli` runs. `pnpm build` makes it, and every test
 * run makes it first, since it is what the tests run.
 */
import { build } from "rolldown"

export const setup = async (): Promise<void> => {
  await build({
    input: "packages/cli/src/bin.ts",
    platform: "node",
    logLevel: "warn",
    output: {
      file: "packages/cli/dist/roster.js",
      format: "esm",
      codeSplitting: false,
      banner: "#!/usr/bin/env node"
    }
  })
}

if (import.meta.main) await setup()
