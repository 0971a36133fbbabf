/**
 * The command line as files that need nothing but Node: what `npx @roster/cli` runs. `pnpm build` makes them, and every test
 * run makes them first, since they are what the tests run.
 */
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { build, type OutputOptions } from "rolldown"
import { helpFile } from "../packages/cli/src/main/StaticHelp.ts"
import packageJson from "../packages/cli/package.json" with { type: "json" }
import {
  asciiWidths,
  knownCompressions,
  knownFrames,
  lateAssert,
  lateEndpoints,
  lateHttp,
  lateHttp2,
  lazyBuiltins,
  leanUndici
} from "./bundlePatches.ts"
import { withFirstCalls } from "./firstCalls.ts"
import { helpPages } from "./helpPages.ts"

const source = "packages/cli/src"
const dist = "packages/cli/dist"
const required = /\d+/.exec(packageJson.engines.node)?.[0] ?? ""

/** The first thing that runs. An older Node is told so in words; for that it must be able to read the whole file. */
const banner = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node) < ${required}) {
  console.error(\`error: roster needs Node.js ${required} or newer, and this is \${process.version}.
  Install it from https://nodejs.org, or with the version manager that you use.\`)
  process.exit(2)
}`

/**
 * Names stay, since errors are known by them; compiled code is kept from start to start, and does not get shorter by it. A
 * file of ASCII is read as it is; one other character makes a text of two bytes a letter of all of it.
 */
const output: OutputOptions = { format: "esm", charset: "ascii", minify: { compress: true, mangle: false } }

/** The file that is run, which loads the rest when it knows that Node can read it. */
const bundleLauncher = () =>
  build({
    input: `${source}/main/launch.ts`,
    platform: "node",
    logLevel: "warn",
    transform: { target: "node20" },
    external: (id) => id.endsWith("bin.ts"),
    write: false,
    output: { ...output, entryFileNames: "roster.js", paths: () => "./roster/main.js", banner }
  })

/** What every command needs that works on a service or a store. */
const client =
  /packages\/(?:api|http-client)\/|effect\/dist\/http|cli\/src\/(?:settings\/InputFile|settings\/KeyCommand|target\/DryRunClient)|^\0node:/

/** What every start needs in one file, and what only some commands need in files that those load. */
const bundleProgram = () =>
  build({
    input: { main: `${source}/main/bin.ts` },
    platform: "node",
    logLevel: "warn",
    // As the build of undici within Node has it: without its second parser, which is an experiment.
    transform: { target: `node${required}`, define: { esbuildDetection: "true" } },
    plugins: [
      lazyBuiltins,
      leanUndici,
      lateHttp2,
      lateHttp,
      lateAssert,
      lateEndpoints,
      asciiWidths,
      knownCompressions,
      knownFrames
    ],
    optimization: { pifeForModuleWrappers: false },
    preserveEntrySignatures: false,
    write: false,
    output: {
      ...output,
      entryFileNames: "roster/[name].js",
      chunkFileNames: "roster/[name].js",
      // A process that is running when the files are replaced finds in them what it looks for.
      minifyInternalExports: false,
      codeSplitting: {
        groups: [
          { name: "core", tags: ["$initial"], priority: 4 },
          { name: "common", minShareCount: 10, priority: 3 },
          { name: "client", test: client, minShareCount: 2, priority: 1 }
        ]
      }
    }
  })

/** What the worker thread of the jobs starts with. `WorkerThread` looks for it beside itself. */
const bundleJobs = () =>
  build({
    input: "packages/server/src/jobs/worker/workerEntry.ts",
    platform: "node",
    logLevel: "warn",
    transform: { target: `node${required}` },
    plugins: [lazyBuiltins],
    write: false,
    output: { ...output, entryFileNames: "roster/[name].js", codeSplitting: false }
  })

const isAs = (file: string, content: string): boolean => existsSync(file) && readFileSync(file, "utf8") === content

export const setup = async (folder: unknown = dist): Promise<void> => {
  // Vitest gives something else.
  const target = typeof folder === "string" ? folder : dist
  const bundles = await Promise.all([bundleProgram(), bundleJobs(), bundleLauncher()])
  const built = new Map<string, string>()
  for (const colors of [false, true]) {
    built.set(`roster/${helpFile(colors)}`, JSON.stringify(await Effect.runPromise(helpPages(colors))))
  }
  for (const file of bundles.flatMap((bundle) => bundle.output)) {
    if (file.type === "chunk") built.set(file.fileName, file.code)
  }
  const files = await withFirstCalls(built)
  for (const [name, content] of files) {
    const file = join(target, name)
    if (isAs(file, content)) continue
    // Whoever reads a file meanwhile, or writes it too, finds the old one or the new one.
    const draft = join(target, `.${basename(name)}.${process.pid}`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(draft, content)
    renameSync(draft, file)
  }
  for (const name of readdirSync(join(target, "roster"))) {
    if (!files.has(`roster/${name}`)) rmSync(join(target, "roster", name), { force: true })
  }
}

if (import.meta.main) await setup(process.argv[2])
