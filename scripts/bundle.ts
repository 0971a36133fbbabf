/**
 * Bundles the command line into files that need nothing but Node, and the page that it serves: what `npx @roster/cli` runs. `pnpm build` runs it, and so
 * does every test run, since the tests start these files.
 */
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { build, type OutputOptions } from "rolldown"
import { helpFile } from "../packages/cli/src/main/StaticHelp.ts"
import packageJson from "../packages/cli/package.json" with { type: "json" }
import { lazyBuiltins, leanUndici } from "./bundledModules.ts"
import { helpPages } from "./helpPages.ts"
import { manFile, manPage } from "./manPage.ts"
import { noticesFile, noticesOf } from "./notices.ts"
import { studioPage } from "./studioPage.ts"

const source = "packages/cli/src"
const dist = "packages/cli/dist"
const [, major = "", minor = ""] = /(\d+)\.(\d+)/.exec(packageJson.engines.node) ?? []

/** Runs first, and refuses an older Node, which must be able to parse the whole file for that. */
const banner = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split(".").map(Number)
if (major < ${major} || (major === ${major} && minor < ${minor})) {
  console.error(\`error: roster needs Node.js ${major}.${minor} or newer, and this is \${process.version}.
  Install it from https://nodejs.org, or with the version manager that you use.\`)
  process.exit(2)
}`

/**
 * Names are not mangled: errors are identified by them, and the compile cache would not shrink. The files are ASCII, since
 * one other character makes V8 store the whole file with two bytes a character.
 */
const output: OutputOptions = { format: "esm", charset: "ascii", minify: { compress: true, mangle: false } }

/** The launcher, which loads the rest once Node is known to be new enough. */
const bundleLauncher = () =>
  build({
    input: `${source}/main/launch.ts`,
    platform: "node",
    logLevel: "warn",
    transform: { target: "node18" },
    external: (id) => id.endsWith("bin.ts"),
    write: false,
    output: { ...output, entryFileNames: "roster.js", paths: () => "./roster/main.js", banner }
  })

/** The modules that every command with a service or a store needs. */
const client = /packages\/(?:api|http-client)\/|effect\/dist\/http|connect\/src\/ConnectOptions|^\0node:/

const isReference = (id: string): boolean => id.endsWith("/ReferencePage.ts")

/** The program: one file that every start loads, and files that only some commands load. */
const bundleProgram = () =>
  build({
    input: { main: `${source}/main/bin.ts` },
    platform: "node",
    logLevel: "warn",
    // As in the undici of Node itself: without its experimental second parser.
    transform: { target: `node${major}`, define: { esbuildDetection: "true" } },
    plugins: [lazyBuiltins, leanUndici],
    // A bundle of its own: among the modules that it alone needs are large ones, which would come into files of others.
    external: isReference,
    preserveEntrySignatures: false,
    write: false,
    output: {
      ...output,
      entryFileNames: "roster/[name].js",
      chunkFileNames: "roster/[name].js",
      paths: (id) => (isReference(id) ? "./roster/ReferencePage.js" : id),
      // A running process still finds the exports it needs after an update replaces the files.
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

/** The entry of a thread, which `WorkerThread` looks for beside itself, or a file that stands alone. */
const bundleAlone = (
  input: string,
  options: { readonly external?: (id: string) => boolean; readonly isSplit?: boolean } = {}
) =>
  build({
    input: `packages/server/src/${input}`,
    platform: "node",
    logLevel: "warn",
    transform: { target: `node${major}` },
    plugins: [lazyBuiltins],
    // Threads answer no request for the page.
    external: (id) => options.external?.(id) === true || (isReference(id) && !isReference(input)),
    write: false,
    output: {
      ...output,
      entryFileNames: "roster/[name].js",
      chunkFileNames: "roster/thread-[name].js",
      ...(options.isSplit === true ? {} : { codeSplitting: false }),
      // A file without imports that does not begin so looks to publint like CommonJS.
      banner: "export {};"
    }
  })

const isAs = (file: string, content: string): boolean => existsSync(file) && readFileSync(file, "utf8") === content

export const setup = async (folder: unknown = dist): Promise<void> => {
  // Vitest passes its own object as a global setup.
  const target = typeof folder === "string" ? folder : dist
  const [page, ...bundles] = await Promise.all([
    studioPage(),
    bundleProgram(),
    // It loads the client of PostgreSQL only for a store there.
    bundleAlone("jobs/worker/workerEntry.ts", { isSplit: true }),
    bundleAlone("reference/ReferencePage.ts"),
    bundleLauncher()
  ])
  const files = new Map<string, string>()
  const pages = await Effect.runPromise(helpPages)
  files.set(`roster/${helpFile}`, JSON.stringify(pages))
  files.set(manFile, manPage(pages))
  const chunks = bundles.flatMap(({ output }) => output.filter((file) => file.type === "chunk"))
  for (const { code, fileName } of chunks) files.set(fileName, code)
  for (const [name, content] of page.files) files.set(`roster/studio/${name}`, content)
  files.set(noticesFile, noticesOf([...chunks.flatMap(({ moduleIds }) => moduleIds), ...page.modules]))
  for (const [name, content] of files) {
    const file = join(target, name)
    if (isAs(file, content)) continue
    // A concurrent reader or writer sees the old file or the new one.
    const draft = join(target, `.${basename(name)}.${process.pid}`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(draft, content)
    renameSync(draft, file)
  }
  for (const file of readdirSync(join(target, "roster"), { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name)
    if (file.isFile() && !files.has(relative(target, path).replaceAll("\\", "/"))) rmSync(path, { force: true })
  }
}

if (import.meta.main) await setup(process.argv[2])
