/**
 * The command line as one file that needs nothing but Node: what `npx @roster/cli` runs. `pnpm build` makes it, and every test
 * run makes it first, since it is what the tests run.
 */
import { build, type Plugin } from "rolldown"
import packageJson from "../packages/cli/package.json" with { type: "json" }

const required = /\d+/.exec(packageJson.engines.node)?.[0] ?? ""

/** The first thing that runs. An older Node is told so in words; for that it must be able to read the whole file. */
const banner = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node) < ${required}) {
  console.error(\`error: roster needs Node.js ${required} or newer, and this is \${process.version}.
  Install it from https://nodejs.org, or with the version manager that you use.\`)
  process.exit(2)
}`

/**
 * Imports are resolved before anything runs, and an older Node lacks some modules and some of their exports. So the modules of
 * Node are taken as values, after the check.
 */
const lateBuiltins: Plugin = {
  name: "late-builtins",
  renderChunk: (code) =>
    code.replaceAll(
      /^import (?:\* as )?(\{.*\}|[\w$]+) from ("node:[\w/]+");$/gm,
      (_, names: string, module: string) =>
        `const ${names.replaceAll(" as ", ": ")} = process.getBuiltinModule(${module});`
    )
}

export const setup = async (): Promise<void> => {
  await build({
    input: "packages/cli/src/bin.ts",
    platform: "node",
    logLevel: "warn",
    transform: { target: "node20" },
    plugins: [lateBuiltins],
    output: { file: "packages/cli/dist/roster.js", format: "esm", codeSplitting: false, banner }
  })
}

if (import.meta.main) await setup()
