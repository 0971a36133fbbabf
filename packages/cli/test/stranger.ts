/**
 * What a stranger may have: package managers, compilers, bundlers and runtimes, out of the registry of npm. They stay in
 * `node_modules/.cache`, so that a later run has them at once.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { arch, platform } from "node:process"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { pnpm } from "./packing.ts"

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url))
const tools = join(cache, "stranger")
const installed = (name: string, ...path: ReadonlyArray<string>): string => join(tools, "node_modules", name, ...path)

const isWindows = platform === "win32"

/** These packages hold the programs themselves; those called `node`, `bun`, `deno` and `esbuild` would have to run scripts. */
const packages = {
  node: `node-${isWindows ? "win" : platform}-${arch}`,
  bun: `@oven/bun-${isWindows ? "windows" : platform}-${arch === "arm64" ? "aarch64" : arch}`,
  deno: `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`,
  esbuild: `@esbuild/${isWindows ? "win32" : platform}-${arch}`
}

/** The oldest Node that runs the command line, the oldest that runs the client, one that is too old, and all others. */
const dependencies: Readonly<Record<string, string>> = {
  "node-18": `npm:${packages.node}@18.20.8`,
  "node-22": `npm:${packages.node}@22.19.0`,
  "node-24": `npm:${packages.node}@24.15.0`,
  [packages.bun]: "1.4.5",
  [packages.deno]: "2.9.6",
  [packages.esbuild]: "0.28.2",
  webpack: "5.113.0",
  "typescript-5.9": "npm:typescript@5.9.3",
  "typescript-6.0": "npm:typescript@6.0.3",
  "typescript-7.0": "npm:typescript@7.0.2",
  "@yarnpkg/cli-dist": "4.18.1",
  npm: "11.19.1"
}

/** Installs what the other functions here use. */
export const installTools = (): void => {
  mkdirSync(tools, { recursive: true })
  writeFileSync(join(tools, "package.json"), JSON.stringify({ private: true, dependencies }))
  // JSON is YAML.
  writeFileSync(join(tools, "pnpm-workspace.yaml"), JSON.stringify({ packages: [] }))
  pnpm(tools, ["install", "--prefer-offline", "--ignore-scripts"])
}

/** A program with its first arguments. */
export type Program = readonly [command: string, ...args: ReadonlyArray<string>]

const extension = isWindows ? ".exe" : ""
const node = (version: string): Program => [installed(version, isWindows ? "" : "bin", `node${extension}`)]

/** The runtimes of the whole of Roster. */
export const runtimes = {
  "Node 26": [process.execPath],
  "Node 24": node("node-24"),
  Bun: [installed(packages.bun, "bin", `bun${extension}`)],
  Deno: [installed(packages.deno, `deno${extension}`), "run", "--allow-all", "--quiet"]
} as const satisfies Readonly<Record<string, Program>>

/** Runs the libraries that have no store. */
export const node22 = node("node-22")

/** Runs nothing of Roster. */
export const node18 = node("node-18")

/** How a program ended. */
export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, within four minutes. */
export const run = (
  [command, ...first]: Program,
  args: ReadonlyArray<string>,
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> }
): Finished => {
  const { error, status, stderr, stdout } = spawnSync(command, [...first, ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    timeout: 240_000
  })
  if (error !== undefined) throw error
  return { code: status, stdout, stderr }
}

/** The compilers by their versions, each told to take no more than what `strict` says, and to be as exact as it can. */
export const compilers = ["5.9", "6.0", "7.0"].flatMap((version) =>
  [false, true].map((exact) => ({ version, exact, name: `TypeScript ${version}${exact ? ", exact" : ""}` }))
)

/** The options that suffice, as docs/getting-started.md says. */
const { compilerOptions: sufficient } = Object(
  JSON.parse(
    String(
      /^```json\n(\{\s*"compilerOptions".*?)^```$/ms.exec(
        readFileSync(fileURLToPath(new URL("../../../docs/getting-started.md", import.meta.url)), "utf8")
      )?.[1]
    )
  )
)

/** Compiles all of a project's `.ts` files, and gives what the compiler says. */
export const compile = (cwd: string, { exact, name, version }: (typeof compilers)[number]): string => {
  const compilerOptions = {
    ...sufficient,
    ...(exact ? { exactOptionalPropertyTypes: true } : {}),
    // Each block is a module of its own.
    moduleDetection: "force",
    // What the types of values are made of has to be public, or nobody could write them down.
    declaration: true,
    emitDeclarationOnly: true,
    noEmit: false,
    outDir: "declarations"
  }
  const config = `tsconfig.${name.replaceAll(/\W+/g, "-")}.json`
  writeFileSync(join(cwd, config), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
  const { code, stderr, stdout } = run(
    [process.execPath, installed(`typescript-${version}`, "bin", "tsc")],
    ["-p", config],
    { cwd }
  )
  return `${stdout}${stderr}${code === 0 ? "" : `exit code ${code}`}`
}

/** Bundles as webpack's own command line does, which is a package of its own. What cannot be found is a warning. */
const webpack = `
const [, path, entry, folder, filename] = process.argv
const module = filename.endsWith(".mjs")
const output = { path: folder, filename, module }
const options = { mode: "production", target: "node24", entry, output, experiments: { outputModule: module } }
require(path)(options, (error, stats) => {
  if (error || stats.hasErrors()) throw error || new Error(stats.toString({ all: false, errors: true }))
})`

/** Each bundles a module of a project for Node into a file: `.mjs` is a module, `.cjs` CommonJS. */
export const bundlers = {
  esbuild: (cwd, entry, file) => {
    const esbuild: Program = [installed(packages.esbuild, isWindows ? "esbuild.exe" : join("bin", "esbuild"))]
    // The CommonJS of others, such as `ws` of @effect/platform-node, requires modules of Node.
    const require =
      'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url)'
    const form = file.endsWith(".mjs") ? ["--format=esm", `--banner:js=${require}`] : ["--format=cjs"]
    return run(esbuild, [entry, "--bundle", "--platform=node", `--outfile=${file}`, ...form], { cwd })
  },
  webpack: (cwd, entry, file) =>
    run([process.execPath, "--eval", webpack], [installed("webpack"), entry, dirname(file), basename(file)], { cwd }),
  "bun build": (cwd, entry, file) => run(runtimes.Bun, ["build", entry, "--target=node", `--outfile=${file}`], { cwd })
} as const satisfies Readonly<Record<string, (cwd: string, entry: string, file: string) => Finished>>

/** Runs a package manager with the settings of the user, and fails with what it says. */
const install = (cwd: string, program: Program, args: ReadonlyArray<string>): void => {
  const env = Object.fromEntries(Object.entries(process.env).map(([name, value = ""]) => [name, value]))
  const { code, stderr, stdout } = run(program, args, { cwd, env })
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`)
}

const yarn = (cwd: string, nodeLinker: "node-modules" | "pnp"): void => {
  const settings = {
    nodeLinker,
    enableTelemetry: false,
    enableImmutableInstalls: false,
    globalFolder: join(cache, "yarn")
  }
  writeFileSync(join(cwd, ".yarnrc.yml"), JSON.stringify(settings))
  // Otherwise the project would belong to one in a folder above it.
  writeFileSync(join(cwd, "yarn.lock"), "")
  install(cwd, [process.execPath, installed("@yarnpkg/cli-dist", "bin", "yarn.js")], ["install", "--mode=skip-build"])
}

/** The package managers, each of which installs the project in a folder in its own way. */
export const managers = {
  /** With no peers but those that the project names. */
  pnpm: (cwd: string): void => {
    const { resolutions: overrides } = Object(JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")))
    const settings = { autoInstallPeers: false, strictPeerDependencies: false, hoist: false, overrides }
    writeFileSync(join(cwd, "pnpm-workspace.yaml"), JSON.stringify({ packages: [], ...settings }))
    pnpm(cwd, ["install", "--prefer-offline", "--ignore-scripts"])
  },
  npm: (cwd: string): void => {
    const args = ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"]
    install(cwd, [process.execPath, installed("npm", "bin", "npm-cli.js")], args)
  },
  yarn: (cwd: string): void => yarn(cwd, "node-modules"),
  "yarn with Plug'n'Play": (cwd: string): void => yarn(cwd, "pnp")
} as const
