/**
 * The packages in a project of somebody else: what the documentation shows compiles there, and runs. A test run tries it
 * with pnpm, the newest compiler and Node 26, bundles it, and starts the services and the command line on each other runtime;
 * the nightly run and `pnpm stranger` try every package manager with every compiler, bundler and runtime.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { serveProcess } from "../../../testing/src/index.ts"
import { hasPnpm, pack, pnpm } from "../packing.ts"
import * as stranger from "../stranger.ts"
import { longRun } from "../roster.ts"

const checkout = fileURLToPath(new URL("../../../../", import.meta.url))
const names = ["domain", "workflows", "api", "http-client", "server", "connect", "testing", "cli"]

const archive = (name: string) => `file:./packed/roster-${name}-${versionOf(name)}.tgz`
const manifestOf = (name: string) =>
  Object(JSON.parse(readFileSync(join(checkout, "packages", name, "package.json"), "utf8")))
const versionOf = (name: string): string => manifestOf(name).version
const installedIn = (folder: string): string =>
  Object(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).version
const installed = (name: string): string => installedIn(join(checkout, "node_modules", name))

const ours = Object.fromEntries(names.map((name) => [`@roster/${name}`, archive(name)]))
const theirs = {
  ...Object.fromEntries(
    ["effect", "@effect/platform-node", "@effect/vitest", "@types/node", "vitest"].map((name) => [
      name,
      installed(name)
    ])
  ),
  // A peer of Vitest, which stands beside it.
  vite: installedIn(join(realpathSync(join(checkout, "node_modules/vitest")), "../vite"))
}

/** The services on a store in memory and on one in a file, with a job. */
const services = `
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ContactsService, EmailAddress } from "@roster/domain"
import { layerMemory, SqlServices } from "@roster/server"
import { exportTo } from "@roster/workflows"
import { Effect, Layer } from "effect"
import { readFileSync, rmSync } from "node:fs"

const program = Effect.gen(function* () {
  const contacts = yield* ContactsService
  yield* contacts.add([{ email: EmailAddress.make("ada@example.com") }])
  yield* exportTo({ fileFormat: "Csv" }, "services.csv")
  const { email } = yield* contacts.get("ada@example.com")
  return [email, readFileSync("services.csv", "utf8").includes(email)].join(" ")
})
for (const suffix of ["", "-wal", "-shm"]) rmSync("services.db" + suffix, { force: true })
for (const services of [layerMemory(), SqlServices.layer({ filename: "services.db" })]) {
  console.log(await Effect.runPromise(Effect.provide(program, Layer.merge(services, NodeServices.layer))))
}
`

/** The services over HTTP, by a transport. */
const client = `
import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { Effect, Layer } from "effect"

const { layer } = await import("@roster/http-client/" + process.argv[2])
const program = ContactsService.use((contacts) => contacts.get("ada@example.com"))
const services = RosterClient.layerConfig().pipe(Layer.provide(layer()))
console.log((await Effect.runPromise(Effect.provide(program, services))).firstName)
`

/** The same, where the environment and the runtime choose. */
const connected = `
import { ContactsService } from "@roster/domain"
import { Connection } from "@roster/connect"
import { Effect } from "effect"

const program = ContactsService.use((contacts) => contacts.get("ada@example.com"))
console.log((await Effect.runPromise(Effect.provide(program, Connection.layerConfig()))).firstName)
`

/** Each way to a store, for a bundle that may be CommonJS; the optional client of PostgreSQL is not installed. */
const bundled = `
import { Connection } from "@roster/connect"
import { ContactsService } from "@roster/domain"
import { checkPostgres, RosterServer, SqlServices } from "@roster/server"
import { Effect, Redacted } from "effect"

const store = { filename: ":memory:" }
const postgres = { url: Redacted.make("postgres://localhost/roster") }
const count = ContactsService.use((contacts) => Effect.map(contacts.list(), (list) => list.length))
const server = RosterServer.layer({ store, port: 0, onAdministratorKey: () => Effect.void })
const serve = Effect.as(RosterServer.RosterServer, "served").pipe(Effect.provide(server))
const told = Effect.catch((error) => Effect.succeed(error.message))
const all = [
  ...[SqlServices.layer(store), Connection.layerLocal(":memory:")].map((services) => Effect.provide(count, services)),
  serve,
  Effect.provide(count, SqlServices.layerPostgres({ postgres })).pipe(told),
  Effect.map(checkPostgres(postgres), ([{ detail }]) => detail)
]
Effect.runPromise(Effect.all(all)).then((said) => console.log(said.join("; ")))
`

/** A client that goes away within the file that it uploads. */
const leaving = `
import { connect } from "node:net"
const { host, hostname, pathname, port } = new URL(process.env.ROSTER_BASE_URL)
const head = ["POST " + pathname + "/contacts/import HTTP/1.1", "host: " + host, "x-service-apikey: " + process.env.ROSTER_API_KEY,
  "content-type: multipart/form-data; boundary=b", "content-length: 1000"]
const part = ["--b", 'content-disposition: form-data; name="file"; filename="a.csv"', "content-type: text/csv", "", "Email", ""]
connect(Number(port), hostname).on("error", () => {}).end([...head, "", ...part].join("\\r\\n")).resume()
`

/** A test of that project, which starts the command line that is installed there. */
const serving = `
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { serveProcess } from "@roster/testing"
import { Effect } from "effect"
import { resolve } from "node:path"

const program = [process.execPath, resolve("node_modules/@roster/cli/dist/roster.js")]

it.live.each([undefined, { program }])("is served by %o", (options) =>
  Effect.gen(function* () {
    const { apiKey, baseUrl } = yield* serveProcess(options)
    const list = ContactsService.use((contacts) => contacts.list())
    assert.deepStrictEqual(yield* list.pipe(Effect.provide(RosterClient.layer({ baseUrl, apiKey }))), [])
  }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, UndiciHttpClient.layer()]))
)
`

/** A part of the conformance suite, as it is packed. A page of the documentation has another one. */
const conforming = `
import { layerMemory } from "@roster/server"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"

testConformance("the store in memory", conformance.emails(), layerMemory({ allowedSenders: ["*@example.com"] }))
`

/** The entry points, but for those that are to be run by a thread or by a test. */
const entries = ["domain", "workflows", "api", "http-client", "http-client/UndiciHttpClient", "server", "connect"]

/** Every entry with all of its values. The compiler can write their types only if each name in them is public. */
const written = names
  .flatMap((name) => Object.keys(manifestOf(name).exports ?? {}).map((entry) => ({ name, entry })))
  .filter(({ entry }) => !entry.endsWith(".json"))
  .map(({ entry, name }, index) => {
    const within = entry === "." ? readFileSync(join(checkout, "packages", name, "src/index.ts"), "utf8") : ""
    const modules = Array.from(within.matchAll(/^export \* as (\w+) /gm), ([, module = ""]) => module)
    return [
      `import * as e${index} from "@roster/${name}${entry.slice(1)}"`,
      `export const all${index} = { ...e${index} }`,
      ...modules.map((module) => `export const all${index}${module} = { ...e${index}.${module} }`)
    ].join("\n")
  })
  .join("\n")

const blocks = [
  "README.md",
  ...names.map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(checkout, "docs"), { recursive: true }).map((name) => `docs/${String(name)}`)
]
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) =>
    Array.from(
      readFileSync(join(checkout, name), "utf8").matchAll(/^```ts\n(.*?)^```$/gms),
      ({ 1: code = "" }, index) => ({
        file: `${name.replaceAll(/\W+/g, "-")}-${index + 1}.ts`,
        code
      })
    )
  )

/** Programs of the page are no tests. Its conformance suite runs in examples/test too, so that here only a nightly run has it. */
const leftOut = blocks.flatMap(({ code, file }) =>
  code.includes("runMain(") || (!longRun && code.includes("testConformance(")) ? [file] : []
)

const project = (folder: string): void => {
  cpSync(packed, join(folder, "packed"), { recursive: true })
  const manifest = {
    name: "foreign",
    private: true,
    type: "module",
    dependencies: { ...ours, ...theirs },
    resolutions: ours
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
  writeFileSync(join(folder, "services.mjs"), services)
  writeFileSync(join(folder, "client.mjs"), client)
  writeFileSync(join(folder, "connected.mjs"), connected)
  writeFileSync(join(folder, "leaving.mjs"), leaving)
  writeFileSync(join(folder, "bundled.mjs"), bundled)
  writeFileSync(join(folder, "people.csv"), "Email,FirstName\nada@example.com,Ada\nbob@example.com,Bob\n")
  writeFileSync(join(folder, "written.ts"), written)
  for (const { code, file } of blocks) writeFileSync(join(folder, file), code)
  writeFileSync(join(folder, "serving.test.mjs"), serving)
  writeFileSync(join(folder, "conforming.test.mjs"), conforming)
  // What they all import is loaded once.
  const test = { include: ["*.test.mjs", "docs-testing-md-*.ts"], exclude: leftOut, isolate: false, maxWorkers: 1 }
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify({ test })}`)
}

/** What each run tries: this one gives a package what it declares and nothing more. All others are tried nightly. */
const first = { manager: "pnpm", compiler: "TypeScript 7.0, exact", runtime: "Node 26" }

/** The runtimes of the whole of Roster, in the order in which they are tried. */
const runtimes = ["Node 26", "Node 24", "Bun", "Deno"] as const

/** Bundlers, each with the form that it makes, and whether only the nightly run tries it. */
const bundles = [
  ["esbuild", "cjs", false],
  ["bun build", "mjs", false],
  ["esbuild", "mjs", true],
  ["webpack", "cjs", true],
  ["webpack", "mjs", true]
] as const

const rosterIn = (cwd: string): string => join(cwd, "node_modules/@roster/cli/dist/roster.js")

/** Serves a store by one runtime, and uses it by another. */
const used = Effect.fnUntraced(function* (
  server: stranger.Program,
  use: (options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }) => void,
  cwd: string
) {
  const { apiKey, baseUrl } = yield* serveProcess({ program: [...server, rosterIn(cwd)] })
  use({ cwd, env: { ROSTER_BASE_URL: baseUrl, ROSTER_API_KEY: Redacted.value(apiKey) } })
}, Effect.scoped)

let folder = ""
let packed = ""

describe.skipIf(!hasPnpm)("a project of somebody else (needs pnpm, which runs the tests)", () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "roster-foreign-"))
    packed = join(folder, "packed")
    mkdirSync(packed)
    pack(names, packed)
    stranger.installTools()
  }, 300_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const installedBy = (manager: keyof typeof stranger.managers): string => {
    const cwd = join(folder, manager.replaceAll(/\W+/g, "-"))
    mkdirSync(cwd)
    project(cwd)
    stranger.managers[manager](cwd)
    return cwd
  }

  for (const manager of ["pnpm", "npm", "yarn"] as const) {
    const isFirst = manager === first.manager

    describe.skipIf(!isFirst && !longRun)(`installed by ${manager}`, () => {
      let cwd = ""
      beforeAll(() => {
        cwd = installedBy(manager)
      }, 300_000)

      for (const compiler of stranger.compilers) {
        const isNightly = !isFirst || compiler.name !== first.compiler
        it.skipIf(isNightly && !longRun)(
          `compiles every block of the documentation and writes the type of every value, by ${compiler.name}${isNightly ? " (nightly)" : ""}`,
          () => assert.strictEqual(stranger.compile(cwd, compiler), ""),
          180_000
        )
      }

      for (const name of runtimes) {
        const isNightly = !isFirst || name !== first.runtime
        it.live.skipIf(isNightly && !longRun)(
          `runs on ${name}: the services, the client, the command line and what it serves${isNightly ? " (nightly)" : ""}`,
          () => {
            const runtime: stranger.Program = stranger.runtimes[name]
            return used(
              runtime,
              (options) => {
                const roster = (...args: ReadonlyArray<string>) =>
                  stranger.run([...runtime, rosterIn(cwd)], args, options)
                assert.strictEqual(stranger.run(stranger.runtimes["Node 26"], ["leaving.mjs"], options).code, 0)
                const imported = roster("contacts", "import", "people.csv")
                assert.strictEqual(imported.code, 0, imported.stderr)
                const exported = roster("contacts", "export", "--out", "people-out.csv", "--force")
                assert.strictEqual(exported.code, 0, exported.stderr)
                const file = readFileSync(join(cwd, "people-out.csv"), "utf8")
                for (const email of ["ada@example.com", "bob@example.com"]) assert.include(file, email)

                const done = (script: string, ...args: ReadonlyArray<string>) =>
                  stranger.run(runtime, [script, ...args], options)
                const said = done("services.mjs")
                assert.strictEqual(said.stdout, "ada@example.com true\nada@example.com true\n", said.stderr)
                const fetched = done("client.mjs", "FetchTransport")
                assert.strictEqual(fetched.stdout, "Ada\n", fetched.stderr)
                const chosen = done("connected.mjs")
                assert.strictEqual(chosen.stdout, "Ada\n", chosen.stderr)
                const dispatched = done("client.mjs", "UndiciHttpClient")
                if (name === "Bun") assert.include(dispatched.stderr, "Provide FetchTransport.layer()")
                else assert.strictEqual(dispatched.stdout, "Ada\n", dispatched.stderr)
              },
              cwd
            ).pipe(Effect.provide(NodeServices.layer))
          },
          180_000
        )
      }

      for (const [name, extension, isNightly] of isFirst ? bundles : []) {
        it.skipIf(isNightly && !longRun)(
          `is bundled by ${name} as .${extension}, without what is optional${isNightly ? " (nightly)" : ""}`,
          () => {
            // Where nothing is installed.
            const away = mkdtempSync(join(folder, "bundle-"))
            const file = join(away, `bundled.${extension}`)
            const { code, stderr, stdout } = stranger.bundlers[name](cwd, "./bundled.mjs", file)
            assert.strictEqual(code, 0, stdout + stderr)
            const ran = stranger.run(stranger.runtimes["Node 26"], [file], { cwd: away })
            const missing = "ts client is missing: install the package @effect/sql-pg"
            assert.match(ran.stdout, new RegExp(`^0; 0; served; .*I${missing}.; .*i${missing}\n$`), ran.stderr)
          },
          180_000
        )
      }
    })
  }

  describe("installed by pnpm, with no peers but those that it names", () => {
    const strict = () => join(folder, "pnpm")

    it("imports every entry", () => {
      const modules = entries.map((entry) => `@roster/${entry}`)
      const code = `for (const name of ${JSON.stringify(modules)})
        if (Object.keys(await import(name)).length > 0) console.log(name)`
      const { stderr, stdout } = stranger.run(stranger.runtimes["Node 26"], ["--input-type=module", "--eval", code], {
        cwd: strict()
      })
      assert.deepStrictEqual(stdout.trim().split("\n"), modules, stderr)
    })

    it("runs the tests of the documentation with the conformance suite, and serveProcess of what is installed", () => {
      const said = pnpm(strict(), ["exec", "vitest", "run"], { NO_COLOR: "1" })
      const pages = blocks.filter(({ file }) => /^docs-testing-md-.*\.ts$/.test(file) && !leftOut.includes(file))
      // And the two of this file.
      const files = pages.length + 2
      assert.include(said, `Test Files  ${files} passed (${files})`)
    }, 300_000)
  })

  it.live(
    "installed by pnpm, runs the client on Node 22, where there is no store and no command line, and both on the others",
    () => {
      const cwd = join(folder, "pnpm")
      return used(
        stranger.runtimes["Node 26"],
        (options) => {
          const { node18, node22, run, runtimes } = stranger
          const added = run([...runtimes["Node 24"], rosterIn(cwd)], ["contacts", "import", "people.csv"], options)
          assert.strictEqual(added.code, 0, added.stderr)
          for (const transport of longRun ? ["FetchTransport", "UndiciHttpClient"] : ["UndiciHttpClient"]) {
            const { stderr, stdout } = run(node22, ["client.mjs", transport], options)
            assert.strictEqual(stdout, "Ada\n", stderr)
          }
          assert.match(run(node22, ["services.mjs"], options).stderr, /SQLite 3\.50\.\d .*Node 24\.15 and newer/)
          for (const [old, version] of [
            [node18, "18.20.8"],
            [node22, "22.19.0"]
          ] as const) {
            const { code, stderr, stdout } = run([...old, rosterIn(cwd)], ["contacts", "list"], options)
            assert.deepStrictEqual([code, stdout], [2, ""])
            assert.include(stderr, `error: roster needs Node.js 24.15 or newer, and this is v${version}.\n`)
          }
          for (const name of ["Node 24", "Bun", "Deno"] as const) {
            const said = run(runtimes[name], ["services.mjs"], options)
            assert.strictEqual(said.stdout, "ada@example.com true\nada@example.com true\n", `${name}: ${said.stderr}`)
            const chosen = run(runtimes[name], ["connected.mjs"], options)
            assert.strictEqual(chosen.stdout, "Ada\n", `${name}: ${chosen.stderr}`)
            if (name === "Node 24") continue
            const got = run([...runtimes[name], rosterIn(cwd)], ["contacts", "get", "ada@example.com"], options)
            assert.deepInclude(Object(JSON.parse(got.stdout || "null")), { FirstName: "Ada" }, `${name}: ${got.stderr}`)
          }
        },
        cwd
      ).pipe(Effect.provide(NodeServices.layer))
    },
    180_000
  )

  it.skipIf(!longRun)(
    "runs the services where Yarn knows what each package may import (nightly)",
    () => {
      const cwd = installedBy("yarn with Plug'n'Play")
      const loaded = ["--require", "./.pnp.cjs", "--experimental-loader", "./.pnp.loader.mjs", "--no-warnings"]
      const { stderr, stdout } = stranger.run(stranger.runtimes["Node 26"], [...loaded, "services.mjs"], { cwd })
      assert.strictEqual(stdout, "ada@example.com true\nada@example.com true\n", stderr)
    },
    300_000
  )
})
