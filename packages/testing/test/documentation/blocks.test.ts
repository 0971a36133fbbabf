/**
 * The blocks of the pages that are no TypeScript: commands are run, settings of other programs are read by them. Programs
 * are compiled by `foreignProject.test.ts` of the command line, and sessions are typed again by its `firstRun.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Predicate, Redacted, Schedule, type Scope } from "effect"
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders, request as requestPlain, type Server } from "node:http"
import { request } from "node:https"
import type { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { describePostgres, freshDatabase } from "../postgres/TestPostgres.ts"
import { textOf } from "../upgrades/OlderStores.ts"

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

const temporaryFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-blocks-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const portOf = (server: Server): number => {
  const address = server.address()
  return address === null || Predicate.isString(address) ? 0 : address.port
}

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => server.close())
  )

/** A port that nobody listens on. */
const freePort = Effect.suspend(() => {
  const server = createServer()
  return Effect.as(listening(server), server).pipe(Effect.map(portOf), Effect.scoped)
})

const has = (program: string, ...args: ReadonlyArray<string>): boolean => spawnSync(program, args).error === undefined

const script = (file: string, ...lines: ReadonlyArray<string>): void => {
  writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"))
  chmodSync(file, 0o755)
}

/** Lines that are run elsewhere: by CI itself, and by a test here. */
const elsewhere = /^(?:npx -y pnpm|npm )/

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

const isServing = (line: string): boolean => /^(?:npx )?roster (?:serve|studio)/.test(line)

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
    const given = possible(line).replace(/ --port \d+|$/, " --port 0")
    const child = start(`exec ${given.replace("roster studio", "roster studio --no-open")}`)
    service = child
    let said = ""
    child.stderr.on("data", (part) => (said += String(part)))
    for await (const line of createInterface({ input: child.stdout })) {
      const [, listening] = /^listening on (\S+)$/.exec(line) ?? []
      if (listening === undefined && !line.includes("#session=")) continue
      address = listening ?? address
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
    for (const name of ["backups", "var/lib/roster", "var/backups/roster"]) {
      mkdirSync(join(folder, name), { recursive: true })
    }
    writeFileSync(join(folder, "var/lib/roster/admin.key"), "key")
    // What the machine would do for its administrator is left out.
    script(
      join(folder, "bin", "sudo"),
      'if [ "$1" = -u ]; then shift 2; fi',
      'case "$1" in systemctl | useradd | npm | install) exit 0 ;; esac; exec "$@"'
    )
    // The version before has made its store.
    using store = new DatabaseSync(join(folder, "var/lib/roster/roster.db"), { enableForeignKeyConstraints: false })
    store.exec(textOf("sqlite", 24))
    return []
  },
  "docs/credentials.md": (folder) => {
    for (const name of ["vault", "systemctl"]) script(join(folder, "bin", name), "cat > /dev/null")
    return ["roster apikeys create reporting --for contacts:read"]
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
      // Maps, calls of another project's client, a failure of a simulation, and what `printedPages.test.ts` compares.
      ["AGENTS.md: ", "docs/architecture.md: ", "docs/cli.md: text", "docs/coming-from.md: js", "docs/testing.md: "]
    )
  })

  it("of JSON can be read", () => {
    const found = blocksOf("json")
    assert.isAbove(found.length, 1)
    for (const { text } of found) JSON.parse(text)
  })

  it("install with each package the peers that it wants", () => {
    const known = new Set(["typescript", "@types/node"])
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
    "hold units that systemd reads without a word (needs systemd-analyze)",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        for (const name of ["roster", "curl"]) script(join(folder, name), "exit 0")
        const units = blocksOf("ini").map(({ text }) => {
          const [, name = ""] = /^# \/etc\/systemd\/system\/(.+)$/m.exec(text) ?? []
          writeFileSync(join(folder, name), text.replaceAll(/\/usr\/(?:local\/)?bin(?=\/(?:roster|curl) )/g, folder))
          return join(folder, name)
        })
        assert.lengthOf(units, 3)
        const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...units], { encoding: "utf8" })
        // It may speak of units of the machine.
        const said = stderr.split("\n").filter((line) => line.includes("roster"))
        assert.deepStrictEqual([status, said], [0, []])
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(!has("nginx", "-v") || !has("openssl", "version"))(
    "hold a configuration with which nginx redirects, keeps connections and says who asks (needs nginx and openssl)",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const subject = ["-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "chain.pem", "-subj", "/CN=a"]
        execFileSync("openssl", ["req", "-x509", ...subject], { cwd: folder, stdio: "ignore" })
        const asked: Array<{ readonly connection: Socket; readonly headers: IncomingHttpHeaders }> = []
        const service = createServer(({ headers, socket: connection }, response) => {
          asked.push({ connection, headers })
          response.end("{}")
        })
        yield* listening(service)
        const [plain, tls] = [yield* freePort, yield* freePort]
        const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`)
        const site = blocksOf("nginx").map(({ text }) => text.replaceAll("/etc/ssl/roster/", `${folder}/`))
        assert.lengthOf(site, 1)
        // Ports that need no rights, and no other process.
        const own = site
          .join("")
          .replace("127.0.0.1:4010", `127.0.0.1:${portOf(service)}`)
          .replace("listen 80;", `listen 127.0.0.1:${plain};`)
          .replace("listen 443 ", `listen 127.0.0.1:${tls} `)
        writeFileSync(
          join(folder, "nginx.conf"),
          `daemon off; master_process off; pid nginx.pid; events {} http { access_log off; ${paths.join(" ")}\n${own}}`
        )
        const flags = ["-e", "stderr", "-p", folder, "-c", "nginx.conf"]
        const read = spawnSync("nginx", ["-t", "-q", ...flags], { encoding: "utf8" })
        assert.deepStrictEqual([read.status, read.stderr], [0, ""])
        yield* Effect.acquireRelease(
          Effect.sync(() => spawn("nginx", flags, { stdio: "ignore" })),
          (child) =>
            Effect.promise(async () => {
              const ended = once(child, "exit")
              child.kill("SIGTERM")
              await ended
            })
        )
        const host = { Host: "roster.example.com" }
        const ask = (path: string) =>
          Effect.promise(async () => {
            const options = {
              host: "127.0.0.1",
              port: tls,
              path,
              method: "POST",
              headers: host,
              rejectUnauthorized: false
            }
            const [answer] = await once(request(options).end("{}"), "response")
            answer.resume()
            await once(answer, "end")
            return answer.statusCode
          })
        const redirect = yield* Effect.tryPromise(async () => {
          const options = { host: "127.0.0.1", port: plain, path: "/v4/contacts?limit=1", headers: host }
          const [{ headers, statusCode }] = await once(requestPlain(options).end(), "response")
          return [statusCode, headers.location]
        }).pipe(Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 }))
        assert.deepStrictEqual(redirect, [301, "https://roster.example.com/v4/contacts?limit=1"])
        assert.deepStrictEqual([yield* ask("/v4/contacts"), yield* ask("/v4/contacts")], [200, 200])
        assert.strictEqual(asked[0]?.connection, asked[1]?.connection)
        const { connection, host: name, ...rest } = asked[1]?.headers ?? {}
        assert.deepStrictEqual([connection, name], [undefined, "roster.example.com"])
        assert.deepStrictEqual([rest["x-forwarded-for"], rest["x-forwarded-proto"]], ["127.0.0.1", "https"])
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
