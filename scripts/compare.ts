/**
 * Prints what the work tree costs and offers beside another revision: `pnpm compare [revision]`. The revision is `HEAD`
 * while there are changes to commit, and `HEAD~1` otherwise. Compared are the names that packages export, the sizes of
 * bundles and the CPU time of starts; both sides are measured by the code of the work tree, and each is bundled by its own.
 */
import { execFile } from "node:child_process"
import { globSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { parseSync } from "rolldown/utils"
import { cpuOfEnded } from "../benchmarks/src/Usage.ts"
import { entries, measure } from "./bundleSizes.ts"
import { namesCompared, type Sizes, sizesCompared, startsCompared } from "./Differences.ts"
import { useRunFolder } from "./RunFolder.ts"

const here = resolve(import.meta.dirname, "..")
const pairs = 10
/** Linux counts the CPU time of ended processes in steps of 10 ms, so that a figure takes several starts. */
const startsPerPair = 4

const line = (text: string): unknown => process.stdout.write(`${text}\n`)
const note = (text: string): unknown => process.stderr.write(`  (${text} …)\n`)

const run = promisify(execFile)

/** The names that a file exports, with those behind its namespaces. */
const namesOf = (file: string): ReadonlyArray<string> =>
  parseSync(file, readFileSync(file, "utf8"))
    .module.staticExports.flatMap((statement) => statement.entries)
    .flatMap(({ exportName, importName, moduleRequest }) => {
      const name = exportName.name ?? "default"
      const isFollowed = importName.kind.startsWith("All") && moduleRequest?.value.startsWith(".") === true
      const inner = isFollowed ? namesOf(join(dirname(file), moduleRequest.value)) : []
      return importName.kind === "AllButDefault" ? inner : [name, ...inner.map((one) => `${name}.${one}`)]
    })

/** What every entry point of every package exports, such as `@roster/domain/Rule: parse`. */
const exportsOf = (root: string): ReadonlySet<string> =>
  new Set(
    globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
      const { exports, name } = Object(JSON.parse(readFileSync(join(root, file), "utf8")))
      return Object.entries<string>(exports ?? {}).flatMap(([entry, path]) =>
        namesOf(join(root, dirname(file), path)).map((exported) => `${name}${entry.slice(1)}: ${exported}`)
      )
    })
  )

const dist = "packages/cli/dist"

const bundledSizes = (root: string): Sizes =>
  new Map(
    globSync(["roster.js", "roster/*", "*.txt"], { cwd: join(root, dist) })
      .toSorted()
      .map((file) => [file, statSync(join(root, dist, file)).size])
  )

const librarySizes = async (root: string): Promise<Sizes> => {
  const sizes = new Map<string, number>()
  for (const entry of entries) {
    const size = await measure(entry, { root }).catch(() => undefined)
    // The other revision may lack what an entry imports.
    if (size === undefined) continue
    sizes.set(`${entry.name}, minified`, size.minified).set(`${entry.name}, compressed`, size.compressed)
  }
  return sizes
}

const email = "ann@example.com"

/** Starts commands of both sides in turn: the first of a pair is the second of the next. */
const startTimes = async (roots: readonly [before: string, after: string]) => {
  const home = join(tmpdir(), "home")
  mkdirSync(home)
  const empty = { XDG_CONFIG_HOME: "", XDG_CACHE_HOME: "", XDG_DATA_HOME: "", XDG_STATE_HOME: "" }
  const env = { PATH: process.env["PATH"], TMPDIR: tmpdir(), HOME: home, ...empty }
  const start = async (side: 0 | 1, args: ReadonlyArray<string>, times = 1) => {
    const cpuBefore = cpuOfEnded()
    const all = [join(roots[side], dist, "roster.js"), ...args.map((arg) => arg.replace("STORE", `${home}/${side}.db`))]
    for (let count = 0; count < times; count++) await run(process.execPath, all, { env, cwd: home })
    return ((cpuOfEnded() - cpuBefore) * 1000) / times
  }
  const measured = new Map<string, Array<readonly [number, number]>>()
  const commands = [["--help"], ["contacts", "ls", "--help"], ["contacts", "get", email, "--db", "STORE"]]
  for (const side of [0, 1] as const) {
    await start(side, ["contacts", "add", email, "--db", "STORE"])
    // Whoever measures a start has started the command before: what it keeps between starts is there.
    for (const args of commands) await start(side, args)
  }
  for (let pair = 0; pair < pairs; pair++) {
    for (const args of commands) {
      const name = `roster ${args.slice(0, 3).join(" ")}`
      const first = pair % 2 === 0 ? await start(0, args, startsPerPair) : undefined
      const after = await start(1, args, startsPerPair)
      const before = first ?? (await start(0, args, startsPerPair))
      measured.set(name, [...(measured.get(name) ?? []), [before, after]])
    }
  }
  return measured
}

const git = async (...args: ReadonlyArray<string>) => (await run("git", args, { cwd: here })).stdout.trim()

const main = async (named: string | undefined): Promise<void> => {
  const revision = named ?? ((await git("status", "--porcelain")) === "" ? "HEAD~1" : "HEAD")
  const commit = await git("rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`).catch(() => {
    throw new Error(`there is no commit "${revision}" in this repository: name a commit, a branch or a tag`)
  })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130))
  // It goes when this process ends, with what runs in it.
  useRunFolder()
  const there = join(tmpdir(), "checkout")
  mkdirSync(there)
  line(`before: ${await git("log", "-1", "--format=%h %s", commit)}\nafter:  the work tree\n`)
  await git("archive", "--output", `${there}.tar`, commit)
  await run("tar", ["-xf", `${there}.tar`, "-C", there])
  for (const text of namesCompared(exportsOf(there), exportsOf(here))) line(text)
  note("installing and bundling")
  const { packageManager } = Object(JSON.parse(readFileSync(join(there, "package.json"), "utf8")))
  const install = ["install", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts"]
  await run("npx", ["-y", packageManager, ...install], { cwd: there })
  const libraries = [await librarySizes(there), await librarySizes(here)] as const
  for (const text of sizesCompared("libraries in a browser, bytes", ...libraries)) line(text)
  for (const cwd of [there, here]) await run(process.execPath, ["scripts/bundle.ts"], { cwd })
  const bundles = [bundledSizes(there), bundledSizes(here)] as const
  for (const text of sizesCompared("bundled command line, bytes", ...bundles, "all files")) line(text)
  if (process.platform !== "linux") {
    line("CPU time of a start: only measured on Linux")
    return
  }
  note(`starting each command ${2 * pairs * startsPerPair} times`)
  for (const text of startsCompared(await startTimes([there, here]))) line(text)
}

if (import.meta.main) {
  await main(process.argv[2]).catch((error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
}
