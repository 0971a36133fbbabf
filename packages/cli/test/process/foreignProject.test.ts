/**
 * The packages in a project of somebody else, whose package manager gives a package what it declares and nothing more: what
 * the README shows compiles there, and runs.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { hasPnpm, pack, pnpm } from "../packing.ts"

const checkout = fileURLToPath(new URL("../../../../", import.meta.url))
const names = ["domain", "workflows", "api", "http-client", "server", "connect", "testing", "cli"]
const yarn = "@yarnpkg/cli-dist@4.18.1"

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
    ["effect", "@effect/platform-node", "@effect/vitest", "vitest"].map((name) => [name, installed(name)])
  ),
  // A peer of Vitest, which stands beside it.
  vite: installedIn(join(realpathSync(join(checkout, "node_modules/vitest")), "../vite"))
}

const program = `
import { ContactsService, EmailAddress } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect } from "effect"

const program = Effect.gen(function* () {
  const contacts = yield* ContactsService
  yield* contacts.add([{ email: EmailAddress.make("ada@example.com") }])
  return (yield* contacts.get("ada@example.com")).email
})
console.log(await Effect.runPromise(Effect.provide(program, layerMemory())))
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

/** The entry points, but for those that are to be run by a thread or by a test. */
const entries = ["domain", "workflows", "api", "http-client", "http-client/UndiciHttpClient", "server", "connect"]

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
  writeFileSync(join(folder, "program.mjs"), program)
  writeFileSync(join(folder, "serving.test.mjs"), serving)
  // What they all import is loaded once.
  const test = { include: ["*.test.mjs", "docs-testing-md-*.ts"], isolate: false, maxWorkers: 1 }
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify({ test })}`)
}

let folder = ""
let packed = ""

describe.skipIf(!hasPnpm)("a project of somebody else", () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "roster-foreign-"))
    packed = join(folder, "packed")
    mkdirSync(packed)
    for (const name of names) pack(name, packed)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  describe("installed by pnpm, with no peers but those that it names", () => {
    let strict = ""

    beforeAll(() => {
      strict = join(folder, "strict")
      mkdirSync(strict)
      project(strict)
      const settings = { autoInstallPeers: false, strictPeerDependencies: false, hoist: false, overrides: ours }
      // JSON is YAML.
      writeFileSync(join(strict, "pnpm-workspace.yaml"), JSON.stringify({ packages: [], ...settings }))
      pnpm(strict, ["install", "--prefer-offline", "--ignore-scripts"])
      for (const { code, file } of blocks) writeFileSync(join(strict, file), code)
    })

    it("runs the services", () => {
      assert.strictEqual(
        execFileSync(process.execPath, ["program.mjs"], { cwd: strict, encoding: "utf8" }),
        "ada@example.com\n"
      )
    })

    it.each(entries)("imports @roster/%s", (entry) => {
      const code = `if (Object.keys(await import("@roster/${entry}")).length === 0) process.exit(1)`
      execFileSync(process.execPath, ["--input-type=module", "--eval", code], { cwd: strict, stdio: "pipe" })
    })

    it("compiles every block of the documentation as it stands", () => {
      assert.isAtLeast(blocks.length, 3)
      const compilerOptions = {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        target: "ES2024",
        module: "NodeNext",
        moduleDetection: "force",
        skipLibCheck: true,
        types: []
      }
      writeFileSync(join(strict, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
      const tsc = join(checkout, "node_modules/typescript/bin/tsc")
      const said = spawnSync(process.execPath, [tsc, "-p", "."], { cwd: strict, encoding: "utf8" })
      assert.strictEqual(said.stdout, "")
      assert.strictEqual(said.status, 0)
    })

    it("runs the tests of the documentation, and serveProcess of the command line that is installed", () => {
      const said = pnpm(strict, ["exec", "vitest", "run"], { NO_COLOR: "1" })
      assert.match(said, /Test Files {2}7 passed \(7\)/)
    })
  })

  it("runs the services where Yarn knows what each package may import", () => {
    const strict = join(folder, "yarn")
    mkdirSync(strict)
    project(strict)
    writeFileSync(join(strict, "yarn.lock"), "")
    const settings = {
      nodeLinker: "pnp",
      enableTelemetry: false,
      enableImmutableInstalls: false,
      globalFolder: join(checkout, "node_modules/.cache/yarn")
    }
    writeFileSync(join(strict, ".yarnrc.yml"), JSON.stringify(settings))
    pnpm(strict, ["--package", yarn, "dlx", "yarn", "install", "--mode=skip-build"])
    const loaded = ["--require", "./.pnp.cjs", "--experimental-loader", "./.pnp.loader.mjs", "--no-warnings"]
    const said = execFileSync(process.execPath, [...loaded, "program.mjs"], {
      cwd: strict,
      encoding: "utf8",
      stdio: "pipe"
    })
    assert.strictEqual(said, "ada@example.com\n")
  })
})
