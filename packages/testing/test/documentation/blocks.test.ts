/**
 * The blocks of the pages that are no TypeScript: commands are run, settings of other programs are read by them. Programs
 * are compiled by `foreignProject.test.ts` of the command line, and sessions are typed again by its `firstRun.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { describePostgres, freshDatabase } from "../postgres/TestPostgres.ts"

const checkout = fileURLToPath(new URL("../../../../", import.meta.url))
const pages = globSync(
  ["*.md", ".github/**/*.md", "docs/**/*.md", "packages/*/*.md", "examples/*.md", "benchmarks/*.md"],
  {
    cwd: checkout
  }
)

interface Block {
  readonly page: string
  readonly language: string
  readonly text: string
}

const blocks: ReadonlyArray<Block> = pages.flatMap((page) =>
  Array.from(
    readFileSync(join(checkout, page), "utf8").matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms),
    ([, language = "", text = ""]) => ({ page, language, text })
  )
)

/** Of these pages the blocks are only shown, as docs/README.md says. */
const isShown = (page: string): boolean => page.startsWith("docs/upstream/") || page === "benchmarks/README.md"

const blocksOf = (language: string): ReadonlyArray<Block> =>
  blocks.filter((block) => block.language === language && !isShown(block.page))

const only = (language: string): string => {
  const [block, ...more] = blocksOf(language)
  if (block === undefined || more.length > 0) throw new Error(`one block of ${language} was expected`)
  return block.text
}

const temporaryFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-blocks-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const has = (program: string, ...args: ReadonlyArray<string>): boolean => spawnSync(program, args).error === undefined

const script = (file: string, ...lines: ReadonlyArray<string>): void => {
  writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"))
  chmodSync(file, 0o755)
}

/** Lines that are run elsewhere: by CI itself, by a test here, by `rotate.test.ts` and by `conformance.test.ts`. */
const elsewhere = /^(?:npx -y pnpm|npm |roster apikeys rotate|roster conformance)/

/** The lines to run: those that serve until they are stopped stand alone. */
const stepsOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#") && !elsewhere.test(line))
  const steps: Array<string> = []
  for (const line of lines) {
    const last = steps.at(-1)
    if (last === undefined || isServing(line) || isServing(last)) steps.push(line)
    else steps[steps.length - 1] = `${last}\n${line}`
  }
  return steps
}

const isServing = (line: string): boolean => /^(?:npx )?roster serve/.test(line)

const database = "postgres://roster@db.example.com/roster"

/** A folder in which the lines of a page run one after another, as in the terminal of a reader. */
const makeReader = Effect.fnUntraced(function* (url: URL) {
  const folder = yield* temporaryFolder
  const bin = join(folder, "bin")
  mkdirSync(bin)
  script(join(bin, "roster"), `exec '${process.execPath}' '${join(checkout, "packages/cli/dist/roster.js")}' "$@"`)
  script(join(bin, "npx"), 'case "$1" in @roster/cli | roster) shift && exec roster "$@" ;; esac; exit 127')
  script(join(bin, "node"), `exec '${process.execPath}' "$@"`)
  let address = "http://127.0.0.1:4010/v4"
  let service: ChildProcess | undefined
  const start = (line: string) =>
    spawn("bash", ["-euo", "pipefail", "-c", line], {
      cwd: folder,
      env: {
        PATH: `${bin}:${process.env["PATH"]}`,
        HOME: folder,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
        ROSTER_DATABASE_PASSWORD: url.password
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
  const stop = async (): Promise<void> => {
    if (service?.exitCode !== null || service.signalCode !== null) return
    const exit = once(service, "exit")
    service.kill("SIGTERM")
    await exit
  }
  yield* Effect.addFinalizer(() => Effect.promise(stop))

  /** The line with an address, folders and a database that there are. */
  const possible = (line: string): string =>
    line
      .replaceAll("http://127.0.0.1:4010/v4", address)
      .replaceAll(database, Object.assign(new URL(url), { password: "" }).href)
      .replaceAll(/(?<= )\/(?=backups|var)/g, `${folder}/`)
      // Nobody is there to be asked.
      .replaceAll(/^roster (?:contacts delete|restore) (?!.*--yes).*?(?=\s*(?:#|$))/gm, "$& --yes")

  const serve = async (line: string): Promise<void> => {
    await stop()
    const child = start(`exec ${possible(line).replace(/ --port \d+|$/, " --port 0")}`)
    service = child
    let said = ""
    child.stderr.on("data", (part) => (said += String(part)))
    for await (const line of createInterface({ input: child.stdout })) {
      const [, listening] = /^listening on (\S+)$/.exec(line) ?? []
      if (listening === undefined) continue
      address = listening
      return
    }
    throw new Error(`${line}\n${said}`)
  }
  const run = async (lines: string): Promise<void> => {
    const child = start(possible(lines))
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (said += String(part)))
    const [code] = await once(child, "close")
    assert.strictEqual(code, 0, `${lines}\n${said}`)
  }
  return {
    folder,
    take: (step: string) => Effect.promise(() => (isServing(step) ? serve(step) : run(step)))
  }
})

/** What a page has its reader do before, or takes for granted. */
const before: Readonly<Record<string, (folder: string) => ReadonlyArray<string>>> = {
  // The reader has saved the first program, and installed the packages that the examples have too.
  "docs/getting-started.md": (folder) => {
    const program = blocksOf("ts").find(({ page }) => page === "docs/getting-started.md")
    writeFileSync(join(folder, "main.ts"), program?.text ?? "")
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
    symlinkSync(join(checkout, "examples/node_modules"), join(folder, "node_modules"))
    return []
  },
  "docs/service.md": (folder) => {
    for (const name of ["backups", "var/lib/roster"]) mkdirSync(join(folder, name), { recursive: true })
    return ["roster contacts add ada@example.com --db /var/lib/roster/roster.db"]
  },
  "docs/decisions/backups.md": () => ["roster contacts add ada@example.com --db roster.db"],
  "docs/testing.md": (folder) => {
    const plan = blocksOf("json").find(({ page }) => page === "docs/testing.md")
    writeFileSync(join(folder, "faults.json"), plan?.text ?? "")
    return []
  }
}

/** What a shell is given, by page. */
const shells = Object.entries(Object.groupBy(blocksOf("sh"), ({ page }) => page)).map(([page, found = []]) => ({
  page,
  text: found.map(({ text }) => text).join("")
}))

describe("the blocks of the pages", () => {
  it("are of kinds that something checks, or are said to be shown", () => {
    const checked = new Set(["ts", "console", "sh", "json", "nginx", "ini"])
    const others = blocks.filter(({ language, page }) => !checked.has(language) && !isShown(page))
    assert.deepStrictEqual(
      [...new Set(others.map(({ language, page }) => `${page}: ${language}`))].toSorted(),
      // Two maps, calls of another project's client, and what `printedPages.test.ts` compares.
      ["AGENTS.md: ", "docs/cli.md: text", "docs/coming-from.md: js"]
    )
  })

  it("of JSON can be read", () => {
    const found = blocksOf("json")
    assert.isAbove(found.length, 1)
    for (const { text } of found) JSON.parse(text)
  })

  it("install with each package the peers that it wants", () => {
    const known = new Set(["typescript"])
    const peers = new Map(
      globSync("packages/*/package.json", { cwd: checkout }).map((file) => {
        const {
          name,
          peerDependencies = {},
          peerDependenciesMeta = {}
        } = Object(JSON.parse(readFileSync(join(checkout, file), "utf8")))
        const wanted = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
        for (const each of [name, ...Object.keys(peerDependencies)]) known.add(each)
        return [String(name), wanted] as const
      })
    )
    let seen = 0
    for (const { page, text } of shells) {
      const names = Array.from(
        text.matchAll(/^npm install (?!--global)(.*)$/gm),
        ([, given = ""]) =>
          given
            .split(/ +#/)[0]
            ?.split(" ")
            .filter((word) => !word.startsWith("--")) ?? []
      ).flat()
      const wanted = names.flatMap((name) => peers.get(name) ?? [])
      assert.deepStrictEqual(
        wanted.filter((name) => !names.includes(name)),
        [],
        page
      )
      assert.deepStrictEqual(
        names.filter((name) => !known.has(name)),
        [],
        page
      )
      seen += names.length
    }
    assert.isAbove(seen, 20)
  })

  it.live.skipIf(!has("systemd-analyze", "--version"))(
    "hold a unit that systemd reads without a word (needs systemd-analyze)",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        script(join(folder, "roster"), "exit 0")
        const unit = join(folder, "roster.service")
        writeFileSync(unit, only("ini").replace("/usr/local/bin/roster", join(folder, "roster")))
        const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" })
        // It may speak of units of the machine.
        const said = stderr.split("\n").filter((line) => line.includes("roster"))
        assert.deepStrictEqual([status, said], [0, []])
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(!has("nginx", "-v") || !has("openssl", "version"))(
    "hold a configuration that nginx takes (needs nginx and openssl)",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const certificate = [
          "-newkey",
          "rsa:2048",
          "-nodes",
          "-keyout",
          "key.pem",
          "-out",
          "chain.pem",
          "-subj",
          "/CN=a"
        ]
        execFileSync("openssl", ["req", "-x509", ...certificate], { cwd: folder, stdio: "ignore" })
        // A port that needs no rights.
        const site = only("nginx").replaceAll("/etc/ssl/roster/", `${folder}/`).replace("listen 443 ", "listen 8443 ")
        const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`)
        writeFileSync(
          join(folder, "nginx.conf"),
          `pid nginx.pid; events {} http { access_log off; ${paths.join(" ")}\n${site}}`
        )
        const { status, stderr } = spawnSync("nginx", ["-t", "-q", "-e", "stderr", "-p", folder, "-c", "nginx.conf"], {
          encoding: "utf8"
        })
        assert.deepStrictEqual([status, stderr], [0, ""])
        assert.isTrue(existsSync(join(folder, "chain.pem")))
      }).pipe(Effect.scoped)
  )
})

describe("the commands of the pages", () => {
  const commands = shells.map(({ page, text }) => {
    const steps = stepsOf(text)
    return { page, steps, needsDatabase: steps.some((step) => step.includes(database)) }
  })
  const run = ({ needsDatabase, page, steps }: (typeof commands)[number]) =>
    Effect.gen(function* () {
      const url = needsDatabase ? Redacted.value(yield* freshDatabase) : database
      const { folder, take } = yield* makeReader(new URL(url))
      writeFileSync(
        join(folder, "customers.csv"),
        "Email,Status,city\nada@example.com,Engaged,Köln\nbob@example.com,Bounced,Oslo\n"
      )
      for (const step of [...(before[page]?.(folder) ?? []), ...steps]) yield* take(step)
    }).pipe(Effect.scoped)

  const isThere = commands.filter(({ steps }) => steps.length > 0)
  it.live.each(isThere.filter(({ needsDatabase }) => !needsDatabase))("run as they stand in $page", run)

  describePostgres("(needs PostgreSQL)", () => {
    it.live.each(isThere.filter(({ needsDatabase }) => needsDatabase))("run as they stand in $page", run)
  })
})
