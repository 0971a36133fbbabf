import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { hasPnpm, pack } from "../packing.ts"
import { bin, temporaryFolder } from "../roster.ts"

const checkout = fileURLToPath(new URL("../../../../", import.meta.url))

const digest = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")

const names = ["domain", "workflows", "api", "http-client", "server", "connect", "testing", "cli"] as const

let archives = ""

/** The archive of a package as it is published. */
const archiveOf = (name: string): string =>
  join(archives, readdirSync(archives).find((file) => file.startsWith(`roster-${name}-`)) ?? "")

/** Unpacks a package as it is published. */
const packed = (name: string, folder: string): string => {
  execFileSync("tar", ["xzf", archiveOf(name)], { cwd: folder })
  return join(folder, "package")
}

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

/** What an installation runs by itself. */
const lifecycle = ["preinstall", "install", "postinstall", "prepare", "prepublish", "preprepare", "postprepare"]

const junk =
  /(^|\/)(test|tests|node_modules|\.git|\.env[^/]*|.*\.(db|db-wal|db-shm|key|pem|tsbuildinfo|tgz|log))(\/|$)|tsbuildinfo/

const secretLike = /roster_[a-z0-9]{40,}|-----BEGIN [A-Z ]*PRIVATE KEY-----/

describe.skipIf(!hasPnpm)("what is published (needs pnpm, which runs the tests)", () => {
  beforeAll(() => {
    archives = mkdtempSync(join(tmpdir(), "roster-packed-"))
    pack(names, archives)
  })
  afterAll(() => rmSync(archives, { recursive: true, force: true }))

  it.live.each(names)("%s says where it comes from, which only the root's manifest knows", (name) =>
    Effect.gen(function* () {
      const folder = packed(name, yield* temporaryFolder)
      const { bugs, homepage, repository } = Object(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")))
      const root = Object(JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")))
      const [, page] = /^git\+(https:.*)\.git$/.exec(root.repository.url) ?? []
      assert.isString(page)
      assert.deepStrictEqual(repository, { type: "git", url: root.repository.url, directory: `packages/${name}` })
      assert.deepStrictEqual([homepage, bugs], [`${page}/tree/main/packages/${name}#readme`, { url: `${page}/issues` }])
    })
  )

  it.live.each(names)("K20 of %s is its code, its licence and nothing that runs by itself", (name) =>
    Effect.gen(function* () {
      const folder = packed(name, yield* temporaryFolder)
      const files = filesOf(folder)
      assert.includeMembers([...files], ["package.json", "LICENSE"])
      assert.strictEqual(digest(readFileSync(join(folder, "LICENSE"))), digest(readFileSync(join(checkout, "LICENSE"))))
      const manifest: object = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
      const { scripts = {} } = Object(manifest)
      for (const script of lifecycle) assert.notProperty(scripts, script)
      assert.notMatch(JSON.stringify(manifest), /workspace:|catalog:/)
      for (const file of files) {
        assert.notMatch(file, junk)
        const text = readFileSync(join(folder, file), "utf8")
        assert.notMatch(text, secretLike, file)
        assert.notInclude(text, checkout, file)
        if (!file.endsWith(".map")) continue
        const { sources = [], sourceRoot = "" } = Object(JSON.parse(text))
        for (const source of [sourceRoot, ...sources]) assert.notMatch(source, /^(?:\/|[a-z]+:)/i, file)
      }
    })
  )

  it.each(names)("%s is what its manifest says, for package managers and bundlers (publint)", async (name) => {
    const { buffer, byteLength, byteOffset } = readFileSync(archiveOf(name))
    const tarball = buffer.slice(byteOffset, byteOffset + byteLength)
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
    assert.deepStrictEqual(
      messages.map((message) => formatMessage(message, pkg)),
      []
    )
  })

  it.each(names.filter((name) => name !== "cli"))(
    "%s has the types of its code (attw), as ES modules",
    async (name) => {
      const analysis = await checkPackage(createPackageFromTarballData(readFileSync(archiveOf(name))))
      assert.isObject(analysis.types)
      const { exports } = Object(JSON.parse(readFileSync(join(checkout, "packages", name, "package.json"), "utf8")))
      if (!("entrypoints" in analysis)) return assert.fail("it has no types")
      assert.sameMembers(Object.keys(analysis.entrypoints), Object.keys(exports))
      // Old resolutions and `require` are not supported: there are ES modules only.
      const problems = Object.entries(analysis.entrypoints).flatMap(([entry, { resolutions }]) =>
        (["node16-esm", "bundler"] as const).flatMap((kind) =>
          (resolutions[kind].visibleProblems ?? []).map((index) => `${entry} ${kind} ${analysis.problems[index]?.kind}`)
        )
      )
      assert.deepStrictEqual(problems, [])
    }
  )

  it("the command line names what it contains of others, with the licences", () => {
    const notices = readFileSync(join(dirname(bin), "THIRD-PARTY-NOTICES.txt"), "utf8")
    const platform = join(checkout, "node_modules/@effect/platform-node")
    const undici = join(checkout, "packages/http-client/node_modules/undici")
    for (const folder of [join(checkout, "node_modules/effect"), platform, undici]) {
      const { license, name, version } = Object(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")))
      assert.include(notices, `\n${name} ${version} (${license})\n\n`)
      assert.include(notices, readFileSync(join(folder, "LICENSE"), "utf8").trim())
    }
    assert.notInclude(notices, checkout)
  })

  it.live("K20 of the command line is the files that these tests run, and they run alone", () =>
    Effect.gen(function* () {
      const folder = packed("cli", yield* temporaryFolder)
      const run = ["roster.1", "roster.js", ...filesOf(join(dirname(bin), "roster")).map((name) => `roster/${name}`)]
      assert.sameMembers(
        [...filesOf(folder)],
        ["package.json", "LICENSE", "README.md", "dist/THIRD-PARTY-NOTICES.txt", ...run.map((name) => `dist/${name}`)]
      )
      for (const name of run) {
        assert.strictEqual(
          digest(readFileSync(join(folder, "dist", name))),
          digest(readFileSync(join(dirname(bin), name))),
          name
        )
      }
      const file = join(folder, "dist/roster.js")
      const { dependencies, peerDependencies } = Object(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")))
      assert.deepStrictEqual([dependencies, peerDependencies], [undefined, undefined])
      const version = execFileSync(process.execPath, [file, "--version"], { encoding: "utf8", cwd: folder })
      assert.match(version, /^roster \d+\.\d+\.\d+\n$/)
    })
  )
})

describe("the file that is run", () => {
  it("resolves nothing before it has looked at the version", () => {
    const lines = readFileSync(bin, "utf8").split("\n")
    assert.strictEqual(lines[0], "#!/usr/bin/env node")
    assert.match(lines[1] ?? "", /process\.versions\.node/)
    assert.deepStrictEqual(
      lines.filter((line) => /^import .* from /.test(line)),
      []
    )
  })
})
